#include "pieces.hpp"

namespace reluscope {

void settle_at(Rows<double> pre, View<std::int64_t> units, View<double> levels, Rows<const double> heights,
               bool is_single) {
    for (std::size_t v = 0; v < heights.size(); ++v)
        for (std::size_t i = 0; i < units.size(); ++i) {
            const double height = heights[v][i];
            if (is_single || height == 0) pre[v][units[i]] = levels[i] + height;
        }
}

}  // namespace reluscope
