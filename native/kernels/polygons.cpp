#include "polygons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reluscope {

namespace {

constexpr double SMALLEST = std::numeric_limits<double>::min();

}  // namespace

Vector<std::int32_t> ordered_corners(Rows<const double> vertices, ListsView regions, Rows<const double> witnesses) {
    Vector<std::int32_t> ordered(regions.ids.begin(), regions.ids.end());
    Vector<double> keys;
    for (std::size_t region = 0; region < regions.size(); ++region) {
        const auto corners = regions[region];
        const auto list = ordered.begin() + regions.offsets[region];
        keys.resize(std::max(keys.size(), corners.size()));
        double wide = SMALLEST, high = SMALLEST;  // angles in a strip are told apart when it is stretched to a square
        for (std::size_t i = 0; vertices.width() == 2 && i < corners.size(); ++i) {
            wide = std::max(wide, std::abs(vertices[corners[i]][0] - witnesses[region][0]));
            high = std::max(high, std::abs(vertices[corners[i]][1] - witnesses[region][1]));
        }
        for (std::size_t i = 0; i < corners.size(); ++i) {
            const double* corner = vertices[corners[i]];
            const double key = vertices.width() == 1 ? corner[0]
                                                     : std::atan2((corner[1] - witnesses[region][1]) / high,
                                                                  (corner[0] - witnesses[region][0]) / wide);
            // Regions have few corners: insertion is the fastest way to sort them.
            std::size_t j = i;
            for (; j > 0 && keys[j - 1] > key; --j) {
                keys[j] = keys[j - 1];
                list[j] = list[j - 1];
            }
            keys[j] = key;
            list[j] = corners[i];
        }
    }
    return ordered;
}

Vector<double> measures(Rows<const double> vertices, ListsView regions) {
    Vector<double> sizes(regions.size(), 0.0);
    for (std::size_t region = 0; region < regions.size(); ++region) {
        const auto corners = regions[region];
        const double* start = vertices[corners[0]];
        if (vertices.width() == 1) {
            sizes[region] = vertices[corners.back()][0] - start[0];
            continue;
        }
        // A fan of triangles from the first corner: differences, so that small regions far away keep their digits.
        for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
            const double *a = vertices[corners[i]], *b = vertices[corners[i + 1]];
            const double ax = a[0] - start[0], ay = a[1] - start[1], bx = b[0] - start[0], by = b[1] - start[1];
            sizes[region] += (ax * by - ay * bx) / 2;
        }
    }
    return sizes;
}

namespace {

// Where a region's boundary crosses the tie of two outputs, and the outputs there.
class Crossings {
public:
    Crossings(Rows<const double> outputs, Rows<const double> vertices, double error)
        : outputs_(outputs), vertices_(vertices), error_(error), where_(2, vertices.width()), value_(2, outputs.width()) {}

    // Returns how many there are; 0 unless the tie runs through the inside.
    std::size_t find(View<std::int32_t> corners, std::size_t a, std::size_t b) {
        const auto tie = [&](std::size_t i) { return outputs_[corners[i]][a] - outputs_[corners[i]][b]; };
        bool above = false, below = false;
        for (std::size_t i = 0; i < corners.size(); ++i) {
            above |= tie(i) > error_;
            below |= tie(i) < -error_;
        }
        if (!(above && below)) return 0;
        number_ = 0;
        for (std::size_t i = 0; i < corners.size(); ++i)
            if (std::abs(tie(i)) <= error_) add(corners[i], corners[i], 0.0);
        const std::size_t sides = vertices_.width() == 2 ? corners.size() : 1;
        for (std::size_t i = 0; i < sides; ++i) {
            const std::size_t next = (i + 1) % corners.size();
            if ((tie(i) > error_ && tie(next) < -error_) || (tie(i) < -error_ && tie(next) > error_))
                add(corners[i], corners[next], tie(i) / (tie(i) - tie(next)));
        }
        return number_;
    }

    const double* where(std::size_t which) const { return where_[which]; }
    const double* value(std::size_t which) const { return value_[which]; }

private:
    void add(std::int32_t v, std::int32_t w, double t) {
        if (number_ == 2) return;
        const auto mix = [t](double one, double two) { return t == 0 ? one : (1 - t) * one + t * two; };
        for (std::size_t axis = 0; axis < vertices_.width(); ++axis)
            where_[number_][axis] = mix(vertices_[v][axis], vertices_[w][axis]);
        for (std::size_t c = 0; c < outputs_.width(); ++c)
            value_[number_][c] = mix(outputs_[v][c], outputs_[w][c]);
        ++number_;
    }

    Rows<const double> outputs_, vertices_;
    double error_;
    Table<double> where_, value_;
    std::size_t number_ = 0;
};

// The lowest of the allowed entries that are largest up to rounding.
std::size_t lowest_winner(const double* values, const std::vector<char>& allowed, double error) {
    double highest = -INFINITE;
    for (std::size_t c = 0; c < allowed.size(); ++c)
        if (allowed[c]) highest = std::max(highest, values[c]);
    for (std::size_t c = 0; c < allowed.size(); ++c)
        if (allowed[c] && values[c] >= highest - error) return c;
    return 0;
}

}  // namespace

Chords find_chords(Rows<const double> outputs, Rows<const double> vertices, ListsView regions, double error) {
    const std::size_t num_outputs = outputs.width(), dim = vertices.width();
    Chords found{{}, Table<std::int64_t>(0, 2), Table<double>(0, dim * dim)};
    Crossings crossings(outputs, vertices, error);
    std::vector<char> possible(num_outputs);
    for (std::size_t region = 0; region < regions.size(); ++region) {
        const auto corners = regions[region];
        const double* first = outputs[corners[0]];
        const auto best = static_cast<std::size_t>(std::max_element(first, first + num_outputs) - first);
        for (std::size_t c = 0; c < num_outputs; ++c) {
            // Whoever is below the winner of the first corner everywhere cannot win.
            possible[c] = c == best;
            for (const auto v : corners) possible[c] |= outputs[v][c] > outputs[v][best] + error;
        }
        if (std::count(possible.begin(), possible.end(), true) < 2) continue;
        for (std::size_t a = 0; a < num_outputs; ++a)
            for (std::size_t b = a + 1; b < num_outputs; ++b) {
                if (!(possible[a] && possible[b]) || crossings.find(corners, a, b) < dim) continue;
                double low = 0.0, high = 1.0;
                for (std::size_t c = 0; c < num_outputs; ++c) {
                    if (c == a || c == b) continue;
                    if (dim == 1) {
                        if (crossings.value(0)[c] > crossings.value(0)[a] + error) high = -1.0;
                        continue;
                    }
                    const double start = crossings.value(0)[a] - crossings.value(0)[c];
                    const double stop = crossings.value(1)[a] - crossings.value(1)[c];
                    if (start < -error && stop < -error)
                        high = -1.0;
                    else if (start < -error)
                        low = std::max(low, start / (start - stop));
                    else if (stop < -error)
                        high = std::min(high, start / (start - stop));
                }
                if (high < low || (dim == 2 && high - low <= 1e-14)) continue;
                found.regions.push_back(static_cast<std::int64_t>(region));
                std::int64_t* classes = found.classes.add();
                classes[0] = static_cast<std::int64_t>(a);
                classes[1] = static_cast<std::int64_t>(b);
                double* ends = found.ends.add();
                for (std::size_t axis = 0; axis < dim; ++axis) {
                    const double one = crossings.where(0)[axis];
                    if (dim == 1) {
                        ends[axis] = one;
                        continue;
                    }
                    const double two = crossings.where(1)[axis];
                    ends[axis] = (1 - low) * one + low * two;
                    ends[dim + axis] = (1 - high) * one + high * two;
                }
            }
    }
    return found;
}

FlatFacets find_flat_facets(Rows<const double> outputs, Rows<const double> witness, View<std::int64_t> left,
                            View<std::int64_t> right, Rows<const std::int64_t> ends, double error) {
    FlatFacets found{{}, Table<std::int64_t>(0, 2)};
    std::vector<char> tied(outputs.width());
    for (std::size_t f = 0; f < left.size(); ++f) {
        std::fill(tied.begin(), tied.end(), true);
        for (std::size_t i = 0; i < ends.width(); ++i) {
            const double* values = outputs[ends[f][i]];
            const double highest = *std::max_element(values, values + outputs.width());
            for (std::size_t c = 0; c < tied.size(); ++c) tied[c] &= values[c] >= highest - error;
        }
        if (std::count(tied.begin(), tied.end(), true) < 2) continue;
        // Outputs that tie on the facet differ beside it as they do further inside; the lowest names a tie.
        const auto one = lowest_winner(witness[left[f]], tied, error);
        const auto two = lowest_winner(witness[right[f]], tied, error);
        if (one == two) continue;
        found.facets.push_back(static_cast<std::int64_t>(f));
        std::int64_t* classes = found.classes.add();
        classes[0] = static_cast<std::int64_t>(std::min(one, two));
        classes[1] = static_cast<std::int64_t>(std::max(one, two));
    }
    return found;
}

}  // namespace reluscope
