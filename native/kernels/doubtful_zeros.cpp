#include "doubtful_zeros.hpp"

#include <algorithm>
#include <cmath>

#include "heights.hpp"

namespace reluscope {
namespace {

// A vertex decided to be zero hides nothing thicker than the resolution, if it is known this many times as exactly.
constexpr double SLACK = 32.0;

// The largest slope along the edges of every cell: from faces up to those that they bound.
Vector<double> cell_slopes(const std::vector<SignedFaces>& faces, View<std::int32_t> pool, const CutVertices& vertices,
                           const CutAtHand& cut) {
    const auto value = [&](std::int32_t v) {
        return (faces[0].above[v] | faces[0].below[v]) & cut.bit ? vertices.heights[v][cut.column] : vertices.raw[v];
    };
    const auto& points = vertices.points;
    Vector<double> largest(faces[1].size());
    for (std::size_t edge = 0; edge < faces[1].size(); ++edge) {
        const auto a = pool[faces[1].start[edge]], b = pool[faces[1].start[edge] + 1];
        const double length = distance(points[a], points[b], points.width());
        largest[edge] = length > 0 ? std::abs(value(a) - value(b)) / length : 0.0;
    }
    for (std::size_t k = 2; k < faces.size(); ++k) {
        Vector<double> above(faces[k].size(), 0.0);
        for (std::size_t f = 0; f < faces[k].size(); ++f)
            for (auto i = faces[k].start[f]; i < faces[k].start[f] + faces[k].count[f]; ++i)
                above[f] = std::max(above[f], largest[pool[i]]);
        largest = std::move(above);
    }
    return largest;
}

// The slope of the least steep cell with a strict sign around every vertex, infinite where there is none: from cells
// down to the faces that bound them.
Vector<double> least_steep(const std::vector<SignedFaces>& faces, View<std::int32_t> pool, Vector<double> least,
                           Word bit) {
    const auto& cells = faces.back();
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
        if (!((cells.above[cell] | cells.below[cell]) & bit)) least[cell] = INFINITE;
    for (std::size_t k = faces.size() - 1; k > 0; --k) {
        Vector<double> below(faces[k - 1].size(), INFINITE);
        for (std::size_t f = 0; f < faces[k].size(); ++f)
            for (auto i = faces[k].start[f]; i < faces[k].start[f] + faces[k].count[f]; ++i)
                below[pool[i]] = std::min(below[pool[i]], least[f]);
        least = std::move(below);
    }
    return least;
}

}  // namespace

std::int64_t num_doubtful(const std::vector<SignedFaces>& faces, View<std::int32_t> pool, const CutVertices& vertices,
                          const CutAtHand& cut) {
    const double resolution = cut.floor / cut.slope;
    const Vector<double> least = least_steep(faces, pool, cell_slopes(faces, pool, vertices, cut), cut.bit);
    std::int64_t number = 0;
    for (std::size_t v = 0; v < faces[0].size(); ++v) {
        if ((faces[0].above[v] | faces[0].below[v]) & cut.bit || least[v] == INFINITE) continue;
        const double error = cut.rounding * vertices.factor[v] + cut.slope * (vertices.blur[v] + vertices.drift[v]);
        const double thinnest = std::min(error, resolution * least[v]);
        // A zero whose sign is known or that may hide a region, or one that is not known well enough.
        number += std::abs(vertices.raw[v]) > thinnest || error > SLACK * cut.floor;
    }
    return number;
}

}  // namespace reluscope
