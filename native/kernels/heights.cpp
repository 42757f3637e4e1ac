#include "heights.hpp"

#include <algorithm>
#include <cmath>

#include "wide.hpp"

namespace reluscope {
namespace {

// Raise the slopes of functions to those along an edge, given their values at its ends and the inverse of its length.
WIDE void raise(const double* one, const double* two, double inverse, std::size_t width,
                       double* __restrict slopes) {
    for (std::size_t j = 0; j < width; ++j) slopes[j] = std::max(slopes[j], std::abs(one[j] - two[j]) * inverse);
}

WIDE void widen(const double* row, std::size_t width, double* __restrict low, double* __restrict high) {
    for (std::size_t j = 0; j < width; ++j) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = high[j] < row[j] ? row[j] : high[j];
    }
}

// How far a row is below the convex combination of two others.
WIDE void sink(const double* one, const double* two, const double* row, double share, std::size_t width,
               double* __restrict depth) {
    for (std::size_t j = 0; j < width; ++j) depth[j] = (1.0 - share) * one[j] + share * two[j] - row[j];
}

WIDE void subtract(const double* column, double factor, std::size_t width, double* __restrict row) {
    for (std::size_t j = 0; j < width; ++j) row[j] -= factor * column[j];
}

}  // namespace

double distance(const double* one, const double* two, std::size_t dim) {
    double sum = 0.0;
    for (std::size_t axis = 0; axis < dim; ++axis) sum += (one[axis] - two[axis]) * (one[axis] - two[axis]);
    return std::sqrt(sum);
}

WIDE void mix(const double* one, const double* two, double share, std::size_t width, double* __restrict row) {
    for (std::size_t j = 0; j < width; ++j) row[j] = (1.0 - share) * one[j] + share * two[j];
}

void interpolate(Rows<double> rows, View<std::int64_t> tail, View<std::int64_t> head, View<double> share) {
    const std::size_t first = rows.size() - tail.size();
    for (std::size_t i = 0; i < tail.size(); ++i) {
        // Each is read once: who else has the array may write to it meanwhile.
        const auto one = static_cast<std::size_t>(tail[i]), other = static_cast<std::size_t>(head[i]);
        if (one >= rows.size() || other >= rows.size()) throw std::invalid_argument("expected rows of the table");
        mix(rows[one], rows[other], share[i], rows.width(), rows[first + i]);
    }
}

void interpolate_bent(Rows<double> rows, Rows<const double> values, Rows<const double> weight, View<std::int64_t> tail,
                      View<std::int64_t> head, View<double> share) {
    const std::size_t first = rows.size() - tail.size(), width = rows.width(), num_units = values.width();
    Vector<double> depth(num_units);
    // The columns of the matrix that were asked for, each in one piece.
    Table<double> columns(0, width);
    Vector<std::int32_t> place(num_units, NONE);
    for (std::size_t i = 0; i < tail.size(); ++i) {
        double* row = rows[first + i];
        mix(rows[tail[i]], rows[head[i]], share[i], width, row);
        sink(values[tail[i]], values[head[i]], values[first + i], share[i], num_units, depth.data());
        for (std::size_t unit = 0; unit < num_units; ++unit) {
            if (depth[unit] == 0) continue;
            if (place[unit] == NONE) {
                place[unit] = static_cast<std::int32_t>(columns.size());
                double* column = columns.add();
                for (std::size_t j = 0; j < width; ++j) column[j] = weight[j][unit];
            }
            subtract(columns[place[unit]], depth[unit], width, row);
        }
    }
}

Vector<double> steepest(Rows<const double> heights, Rows<const double> points, View<std::int32_t> ends) {
    Vector<double> slopes(heights.width(), 0.0);
    for (std::size_t e = 0; e + 1 < ends.size(); e += 2) {
        const double length = distance(points[ends[e]], points[ends[e + 1]], points.width());
        raise(heights[ends[e]], heights[ends[e + 1]], length > 0 ? 1.0 / length : 0.0, slopes.size(), slopes.data());
    }
    return slopes;
}

Ranges column_ranges(Rows<const double> heights) {
    const std::size_t width = heights.width();
    Ranges found{Vector<double>(width, INFINITE), Vector<double>(width, -INFINITE)};
    if (!width) return found;  // of rows without entries there may be any number
    for (std::size_t v = 0; v < heights.size(); ++v) widen(heights[v], width, found.low.data(), found.high.data());
    return found;
}

}  // namespace reluscope
