#include "parts.hpp"

#include <algorithm>

namespace reluscope {
namespace {

// Corners of a polygon in order, with all outputs there.
struct Polygon {
    Table<double> corners, values;
    std::size_t size() const { return corners.size(); }

    void add(const double* corner, const double* value) {
        std::copy_n(corner, corners.width(), corners.add());
        std::copy_n(value, values.width(), values.add());
    }
};

// Whether an output is the largest at a corner, or no single other one is above it at every corner.
bool may_win(const Polygon& polygon, std::size_t one, double error) {
    const std::size_t number = polygon.size(), num_outputs = polygon.values.width();
    for (std::size_t i = 0; i < number; ++i) {
        const double* values = polygon.values[i];
        if (values[one] >= *std::max_element(values, values + num_outputs) - error) return true;
    }
    for (std::size_t other = 0; other < num_outputs; ++other) {
        bool above = other != one;
        for (std::size_t i = 0; i < number; ++i) above &= polygon.values[i][other] > polygon.values[i][one];
        if (above) return false;
    }
    return true;
}

// The part of a polygon where one output is ahead of another; all or nothing where the two agree.
Polygon clip(const Polygon& polygon, std::size_t one, std::size_t other, double error, bool wins_ties) {
    const std::size_t number = polygon.size();
    Polygon kept{Table<double>(0, polygon.corners.width()), Table<double>(0, polygon.values.width())};
    Vector<double> ahead(number);
    for (std::size_t i = 0; i < number; ++i) ahead[i] = polygon.values[i][one] - polygon.values[i][other];
    if (std::none_of(ahead.begin(), ahead.end(), [error](double lead) { return lead > error; })) {
        const bool ties = std::all_of(ahead.begin(), ahead.end(), [error](double lead) { return lead >= -error; });
        return wins_ties && ties ? polygon : kept;
    }
    for (std::size_t here = 0; here < number; ++here) {
        const std::size_t there = (here + 1) % number;
        const double *corner = polygon.corners[here], *value = polygon.values[here];
        if (ahead[here] >= -error) kept.add(corner, value);
        if ((ahead[here] > error && ahead[there] < -error) || (ahead[here] < -error && ahead[there] > error)) {
            const double t = ahead[here] / (ahead[here] - ahead[there]);
            const double *next_corner = polygon.corners[there], *next_value = polygon.values[there];
            double *made = kept.corners.add(), *output = kept.values.add();
            for (std::size_t axis = 0; axis < kept.corners.width(); ++axis)
                made[axis] = (1 - t) * corner[axis] + t * next_corner[axis];
            for (std::size_t c = 0; c < kept.values.width(); ++c)
                output[c] = (1 - t) * value[c] + t * next_value[c];
        }
    }
    return kept;
}

}  // namespace

WinningParts winning_parts(Rows<const double> outputs, Rows<const double> vertices, ListsView all,
                           View<std::int64_t> regions, double error) {
    WinningParts found{{}, {}, {}, Table<double>(0, vertices.width())};
    for (const auto region : regions) {
        Polygon whole{Table<double>(0, vertices.width()), Table<double>(0, outputs.width())};
        for (const auto v : all[region]) whole.add(vertices[v], outputs[v]);
        std::vector<std::size_t> candidates;
        for (std::size_t c = 0; c < outputs.width(); ++c)
            if (may_win(whole, c, error)) candidates.push_back(c);
        for (const auto one : candidates) {
            Polygon part = whole;
            for (const auto other : candidates)
                if (other != one && part.size()) part = clip(part, one, other, error, one < other);
            if (part.size() < 3) continue;
            found.classes.push_back(static_cast<std::int64_t>(one));
            found.regions.push_back(region);
            found.sizes.push_back(static_cast<std::int64_t>(part.size()));
            for (std::size_t i = 0; i < part.size(); ++i)
                std::copy_n(part.corners[i], part.corners.width(), found.corners.add());
        }
    }
    return found;
}

}  // namespace reluscope
