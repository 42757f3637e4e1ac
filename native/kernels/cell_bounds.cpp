#include "cell_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace reluscope {

CellRanges cell_ranges(Rows<const double> centers, Rows<const double> radii, View<std::int64_t> offsets) {
    const std::size_t width = centers.width(), number = offsets.size() - 1;
    CellRanges found{Table<double>(number, width, INFINITE), Table<double>(number, width, -INFINITE)};
    for (std::size_t cell = 0; cell < number; ++cell) {
        double *low = found.low[cell], *high = found.high[cell];
        for (auto corner = offsets[cell]; corner < offsets[cell + 1]; ++corner) {
            const double *center = centers[corner], *radius = radii[corner];
            for (std::size_t i = 0; i < width; ++i) {
                low[i] = std::min(low[i], center[i] - radius[i]);
                high[i] = std::max(high[i], center[i] + radius[i]);
            }
        }
    }
    return found;
}

namespace {

// What a unit's function is at a point.
double value_at(double point, const PiecesView& pieces, std::size_t unit) {
    std::size_t piece = 0;
    while (piece < pieces.breakpoints.size() && pieces.breakpoints[piece][unit] < point) ++piece;
    return pieces.slopes[piece][unit] * point + pieces.intercepts[piece][unit];
}

}  // namespace

Relaxed relax(Rows<const double> low, Rows<const double> high, const PiecesView& pieces, double rounding) {
    const std::size_t width = low.width(), number = low.size(), kinks = pieces.breakpoints.size();
    const auto table = [&] { return Table<double>(number, width); };
    Relaxed found{{table(), table()}, {table(), table()}, {table(), table()}};
    // Between its ends a function is extreme at a breakpoint.
    Vector<double> points(kinks + 2), values(kinks + 2);
    for (std::size_t cell = 0; cell < number; ++cell)
        for (std::size_t unit = 0; unit < width; ++unit) {
            const double first = low[cell][unit], last = high[cell][unit], largest = std::max(std::abs(first), std::abs(last));
            double least = INFINITE, most = -INFINITE, size = 0.0;
            for (std::size_t i = 0; i < kinks + 2; ++i) {
                const double point = i < kinks ? pieces.breakpoints[i][unit] : i == kinks ? first : last;
                points[i] = std::min(std::max(point, first), last);
                values[i] = value_at(points[i], pieces, unit);
                least = std::min(least, values[i]);
                most = std::max(most, values[i]);
            }
            const double chord = last > first ? (values[kinks + 1] - values[kinks]) / (last - first) : 0.0;
            const double middle = 0.5 * (first + last);
            double best_low = -INFINITE, best_high = INFINITE;
            for (std::size_t piece = 0; piece < kinks + 2; ++piece) {
                const bool is_chord = piece == kinks + 1;
                const double slope = is_chord ? chord : pieces.slopes[piece][unit];
                const double start = is_chord ? 0.0 : pieces.intercepts[piece][unit];
                size = std::max(size, std::abs(slope) * largest + std::abs(start));
                double lower = INFINITE, upper = -INFINITE;
                for (std::size_t i = 0; i < kinks + 2; ++i) {
                    const double rest = values[i] - slope * points[i];
                    lower = std::min(lower, rest);
                    upper = std::max(upper, rest);
                }
                if (slope * middle + lower > best_low) {
                    best_low = slope * middle + lower;
                    found.below.slopes[cell][unit] = slope;
                    found.below.starts[cell][unit] = lower;
                }
                if (slope * middle + upper < best_high) {
                    best_high = slope * middle + upper;
                    found.above.slopes[cell][unit] = slope;
                    found.above.starts[cell][unit] = upper;
                }
            }
            const double slack = rounding * size;
            found.below.starts[cell][unit] -= slack;
            found.above.starts[cell][unit] += slack;
            found.range.low[cell][unit] = least - slack;
            found.range.high[cell][unit] = most + slack;
        }
    return found;
}

CornerBounds between_lines(Rows<const double> centers, Rows<const double> radii, View<std::int64_t> offsets,
                           const LinesView& below, const LinesView& above, double rounding) {
    const std::size_t width = centers.width(), number = offsets.size() - 1;
    CornerBounds found{Table<double>(centers.size(), width), Table<double>(centers.size(), width)};
    for (std::size_t cell = 0; cell < number; ++cell) {
        const double *low_slope = below.slopes[cell], *low_start = below.starts[cell];
        const double *high_slope = above.slopes[cell], *high_start = above.starts[cell];
        for (auto corner = offsets[cell]; corner < offsets[cell + 1]; ++corner) {
            const double *center = centers[corner], *radius = radii[corner];
            double *middle = found.centers[corner], *half = found.radii[corner];
            for (std::size_t i = 0; i < width; ++i) {
                const double low = low_slope[i] * center[i] - std::abs(low_slope[i]) * radius[i] + low_start[i];
                const double high = high_slope[i] * center[i] + std::abs(high_slope[i]) * radius[i] + high_start[i];
                middle[i] = 0.5 * (low + high);
                const double reach = std::abs(center[i]) + radius[i];
                const double size = (std::abs(low_slope[i]) + std::abs(high_slope[i])) * reach + std::abs(low_start[i]) +
                                    std::abs(high_start[i]);
                half[i] = std::max(0.5 * (high - low), 0.0) + rounding * size;
            }
        }
    }
    return found;
}

}  // namespace reluscope
