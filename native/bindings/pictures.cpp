#include "../kernels/depth_buffer.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using Points = In<double, 2>;
constexpr std::size_t MOST_PIXELS = std::size_t{1} << 25, LONGEST_SIDE = std::size_t{1} << 14;

PolygonsView polygons_of(const Points& points, const In<std::int64_t, 1>& offsets, const In<std::int32_t, 1>& ids) {
    const PolygonsView polygons{rows(points), lists(offsets, ids)};
    expect(polygons.points.width() == 3, "expected points with two places and a depth");
    expect_lists_of_some(polygons.lists, polygons.points.size());
    return polygons;
}

void expect_size(std::size_t height, std::size_t width) {
    expect(height <= LONGEST_SIDE && width <= LONGEST_SIDE && height * width <= MOST_PIXELS,
           "expected a picture of at most 16,384 pixels along each side, and of 33,554,432 in all");
}

}  // namespace

void bind_pictures(nb::module_& module) {
    module.def(
        "nearest_polygons",
        [](Points points, In<std::int64_t, 1> offsets, In<std::int32_t, 1> ids, std::size_t height, std::size_t width,
           std::size_t num_threads) {
            const auto polygons = polygons_of(points, offsets, ids);
            expect_size(height, width);
            const auto threads = threads_of(num_threads);
            Table<double> planes;
            auto nearest = unlocked([&] {
                planes = depth_planes(polygons);
                return nearest_polygons(polygons, {planes[0], planes.size(), planes.width()}, height, width, threads);
            });
            return nb::make_tuple(give(std::move(nearest)), give(std::move(planes)));
        },
        "points"_a, "offsets"_a, "ids"_a, "height"_a, "width"_a, "num_threads"_a);
    module.def(
        "blended_polygons",
        [](Points points, In<std::int64_t, 1> offsets, In<std::int32_t, 1> ids, In<double, 2> colors, std::size_t height,
           std::size_t width, std::size_t num_threads) {
            const auto polygons = polygons_of(points, offsets, ids);
            expect(colors.shape(0) == polygons.size() && colors.shape(1) == 4, "expected a colour of every polygon");
            expect_size(height, width);
            const auto threads = threads_of(num_threads);
            auto picture = unlocked([&] {
                const auto planes = depth_planes(polygons);
                return blended_polygons(polygons, {planes[0], planes.size(), planes.width()}, rows(colors), height,
                                        width, threads);
            });
            return shaped<float>(std::move(picture), {height, width, 4});
        },
        "points"_a, "offsets"_a, "ids"_a, "colors"_a, "height"_a, "width"_a, "num_threads"_a);
    module.def(
        "visible_parts",
        [](Points starts, Points ends, In<std::int32_t, 2> nearest, In<double, 2> planes, double slack) {
            expect(starts.shape(1) == 3 && ends.shape(1) == 3 && starts.shape(0) == ends.shape(0),
                   "expected line pieces with two ends in space");
            expect(planes.shape(1) == 7, "expected planes as pictures have them");
            expect_size(nearest.shape(0), nearest.shape(1));
            for (const auto polygon : entries_of(rows(nearest)))
                expect(polygon < 0 || static_cast<std::size_t>(polygon) < planes.shape(0), "expected polygons in range");
            auto found = unlocked([&] { return visible_parts(rows(starts), rows(ends), rows(nearest), rows(planes), slack); });
            return nb::make_tuple(give(std::move(found.pieces)), give(std::move(found.shares)));
        },
        "starts"_a, "ends"_a, "nearest"_a, "planes"_a, "slack"_a);
}

}  // namespace reluscope
