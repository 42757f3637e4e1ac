#include "solids.hpp"

#include <algorithm>
#include <cmath>

namespace reluscope {

Middles middles(View<std::int64_t> offsets, Rows<const double> vertices) {
    const std::size_t number = offsets.size() - 1, width = vertices.width();
    Middles found{Table<double>(number, width, 0.0), Vector<std::uint8_t>(number, 1)};
    for (std::size_t cell = 0; cell < number; ++cell) {
        double* mean = found.means[cell];
        for (auto v = offsets[cell]; v < offsets[cell + 1]; ++v) {
            for (std::size_t axis = 0; axis < width; ++axis) mean[axis] += vertices[v][axis];
            found.is_bounded[cell] &= vertices[v][width - 1] > 0.0;
        }
        for (std::size_t axis = 0; axis < width; ++axis)
            mean[axis] /= static_cast<double>(offsets[cell + 1] - offsets[cell]);
    }
    return found;
}

Extents extents(Rows<const double> points, ListsView lists, View<std::int64_t> faces) {
    const std::size_t dim = points.width();
    Extents found{Table<double>(faces.size(), dim, 0.0), Vector<double>(faces.size(), 0.0)};
    for (std::size_t row = 0; row < faces.size(); ++row) {
        const auto corners = lists[faces[row]];
        double* center = found.centers[row];
        for (const auto v : corners)
            for (std::size_t axis = 0; axis < dim; ++axis) center[axis] += points[v][axis];
        for (std::size_t axis = 0; axis < dim; ++axis) {
            center[axis] /= static_cast<double>(corners.size());
            for (const auto v : corners)
                found.sizes[row] = std::max(found.sizes[row], std::abs(points[v][axis] - center[axis]));
        }
    }
    return found;
}

Vector<std::int64_t> nearest_in_place(View<std::int64_t> seams, Rows<const double> centers, View<double> sizes,
                                      View<double> heights, View<std::int64_t> order, double coincident) {
    Vector<std::int64_t> partner(order.size(), NONE);
    Vector<double> nearest(order.size(), INFINITE);
    for (std::size_t position = 0; position < order.size(); ++position) {
        const auto one = order[position];
        for (const auto other : order.subspan(position + 1)) {
            if (seams[other] != seams[one] || heights[other] - heights[one] > coincident * sizes[one]) break;
            double distance = 0.0;
            for (std::size_t axis = 0; axis < centers.width(); ++axis) {
                const double step = centers[one][axis] - centers[other][axis];
                distance += step * step;
            }
            distance = std::sqrt(distance);
            if (distance > coincident * std::min(sizes[one], sizes[other])) continue;
            if (distance < nearest[one]) {
                nearest[one] = distance;
                partner[one] = other;
            }
            if (distance < nearest[other]) {
                nearest[other] = distance;
                partner[other] = one;
            }
        }
    }
    return partner;
}

}  // namespace reluscope
