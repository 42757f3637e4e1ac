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
                const double size = std::max(std::abs(low), std::abs(high));
                half[i] = std::max(0.5 * (high - low), 0.0) + rounding * size;
            }
        }
    }
    return found;
}

}  // namespace reluscope
