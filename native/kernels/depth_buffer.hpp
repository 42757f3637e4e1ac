// Plane convex polygons as pixels, seen along the third axis: which is in front, what shows through, and which parts of
// line pieces nothing hides. Pixel (row, column) has its middle at (column + 1/2, row + 1/2); larger depth is nearer.
#pragma once

#include "arrays.hpp"

namespace reluscope {

struct PolygonsView {
    Rows<const double> points;
    ListsView lists;
    std::size_t size() const { return lists.size(); }
};

// Of each polygon its middle, how depth changes along both axes, and its least and largest depth.
Table<double> depth_planes(const PolygonsView& polygons);

// The polygon nearest to the viewer at the middle of every pixel, the first of several; NONE where there is none.
Table<std::int32_t> nearest_polygons(const PolygonsView& polygons, Rows<const double> planes, std::size_t height,
                                     std::size_t width, std::size_t num_threads);

// All polygons over each other, from the nearest to the farthest: colours and opacities (red, green, blue, opacity),
// multiplied by it in what is returned.
Vector<float> blended_polygons(const PolygonsView& polygons, Rows<const double> planes, Rows<const double> colors,
                               std::size_t height, std::size_t width, std::size_t num_threads);

struct VisibleParts {
    Vector<std::int64_t> pieces;
    Table<double> shares;
};
// The parts of line pieces, as shares of their lengths, that no polygon hides by more than a slack.
VisibleParts visible_parts(Rows<const double> starts, Rows<const double> ends, Rows<const std::int32_t> nearest,
                           Rows<const double> planes, double slack);

}  // namespace reluscope
