#include "depth_buffer.hpp"

#include <algorithm>
#include <cmath>

#include "threads.hpp"

namespace reluscope {
namespace {

constexpr std::size_t PLANE_WIDTH = 7;
// Polygons that are seen from the side have no depth of their own, but that of their middle.
constexpr double EDGE_ON = 1e-9;
constexpr std::size_t ROWS_AT_ONCE = 8;
// What is left of light behind which nothing is seen.
constexpr float DARK = 1.0f / 1024;

double depth_at(const double* plane, double x, double y) {
    const double depth = plane[2] + (x - plane[0]) * plane[3] + (y - plane[1]) * plane[4];
    return std::min(std::max(depth, plane[5]), plane[6]);
}

// The first of so many pixels whose middle is not before a coordinate; 0 where that is not a number.
std::size_t first_pixel(double coordinate, std::size_t number) {
    const double place = std::ceil(coordinate - 0.5);
    if (!(place > 0.0)) return 0;
    return place >= static_cast<double>(number) ? number : static_cast<std::size_t>(place);
}

struct Span {
    std::size_t first, last;
};

// The pixels of a row that lie in a polygon. Pixels between two that share an edge are in one of them: it is cut from
// its lower end, whoever it belongs to.
Span span_of(const PolygonsView& polygons, View<std::int32_t> ids, std::size_t row, std::size_t width) {
    const double y = static_cast<double>(row) + 0.5;
    double low = INFINITE, high = -INFINITE;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const double* lower = polygons.points[ids[i]];
        const double* upper = polygons.points[ids[i + 1 < ids.size() ? i + 1 : 0]];
        if (lower[1] > upper[1]) std::swap(lower, upper);
        if (!(lower[1] <= y && y < upper[1])) continue;
        const double x = lower[0] + (y - lower[1]) / (upper[1] - lower[1]) * (upper[0] - lower[0]);
        low = std::min(low, x);
        high = std::max(high, x);
    }
    return {first_pixel(low, width), first_pixel(high, width)};
}

// The rows that each polygon reaches, none where a coordinate is not finite.
std::vector<Span> rows_of(const PolygonsView& polygons, std::size_t height) {
    std::vector<Span> found(polygons.size(), Span{0, 0});
    for (std::size_t polygon = 0; polygon < found.size(); ++polygon) {
        double low = INFINITE, high = -INFINITE, all = 0.0;
        for (const auto id : polygons.lists[polygon]) {
            const double* point = polygons.points[id];
            low = std::min(low, point[1]);
            high = std::max(high, point[1]);
            all += 0.0 * point[0] + 0.0 * point[1] + 0.0 * point[2];
        }
        if (all == 0.0) found[polygon] = {first_pixel(low, height), first_pixel(high, height)};
    }
    return found;
}

// Calls with (row, span, polygon) for all polygons on some rows, in their order.
template <class Take>
void scan(const PolygonsView& polygons, const std::vector<Span>& reach, Span rows, std::size_t width, Take take) {
    for (std::size_t polygon = 0; polygon < reach.size(); ++polygon) {
        const std::size_t last = std::min(reach[polygon].last, rows.last);
        for (std::size_t row = std::max(reach[polygon].first, rows.first); row < last; ++row)
            take(row, span_of(polygons, polygons.lists[polygon], row, width), polygon);
    }
}

struct Fragment {
    std::uint32_t pixel;
    std::int32_t polygon;
    double depth;
};

bool is_hidden(const double* point, Rows<const std::int32_t> nearest, Rows<const double> planes, double slack) {
    const std::size_t row = first_pixel(point[1] - 1.0, nearest.size()), column = first_pixel(point[0] - 1.0, nearest.width());
    for (std::size_t r = row; r < std::min(row + 2, nearest.size()); ++r)
        for (std::size_t c = column; c < std::min(column + 2, nearest.width()); ++c) {
            const std::int32_t polygon = nearest[r][c];
            if (polygon < 0 || !(depth_at(planes[polygon], point[0], point[1]) > point[2] + slack)) return false;
        }
    return true;
}

// The part of a line piece within the picture, as shares; none if it does not get there.
bool clip(const double* start, const double* end, double width, double height, double& first, double& last) {
    const double sizes[2] = {width, height};
    first = 0.0;
    last = 1.0;
    for (int axis = 0; axis < 2; ++axis) {
        const double along = end[axis] - start[axis];
        if (!std::isfinite(along)) return false;
        if (along == 0.0) {
            if (!(start[axis] >= 0.0 && start[axis] <= sizes[axis])) return false;
            continue;
        }
        const double one = -start[axis] / along, two = (sizes[axis] - start[axis]) / along;
        first = std::max(first, std::min(one, two));
        last = std::min(last, std::max(one, two));
    }
    return first < last && std::isfinite(end[2] - start[2]);
}

}  // namespace

Table<double> depth_planes(const PolygonsView& polygons) {
    Table<double> planes(polygons.size(), PLANE_WIDTH);
    for (std::size_t polygon = 0; polygon < polygons.size(); ++polygon) {
        const auto ids = polygons.lists[polygon];
        double middle[3] = {0, 0, 0}, normal[3] = {0, 0, 0}, low = INFINITE, high = -INFINITE;
        for (const auto id : ids) {
            for (int axis = 0; axis < 3; ++axis) middle[axis] += polygons.points[id][axis] / static_cast<double>(ids.size());
            low = std::min(low, polygons.points[id][2]);
            high = std::max(high, polygons.points[id][2]);
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double* one = polygons.points[ids[i]];
            const double* two = polygons.points[ids[i + 1 < ids.size() ? i + 1 : 0]];
            for (int axis = 0; axis < 3; ++axis) {
                const int next = (axis + 1) % 3, after = (axis + 2) % 3;
                normal[axis] += (one[next] - middle[next]) * (two[after] - middle[after]) -
                                (one[after] - middle[after]) * (two[next] - middle[next]);
            }
        }
        const double size = std::hypot(normal[0], normal[1], normal[2]);
        const bool is_seen = std::abs(normal[2]) > EDGE_ON * size;
        double* plane = planes[polygon];
        std::copy(middle, middle + 3, plane);
        plane[3] = is_seen ? -normal[0] / normal[2] : 0.0;
        plane[4] = is_seen ? -normal[1] / normal[2] : 0.0;
        plane[5] = low;
        plane[6] = high;
    }
    return planes;
}

Table<std::int32_t> nearest_polygons(const PolygonsView& polygons, Rows<const double> planes, std::size_t height,
                                     std::size_t width, std::size_t num_threads) {
    Table<std::int32_t> nearest(height, width, NONE);
    const auto reach = rows_of(polygons, height);
    // A polygon of few rows is looked at by few, and threads that have little to do take more.
    const std::size_t at_once = std::max<std::size_t>(ROWS_AT_ONCE, height / (8 * num_threads) + 1);
    std::vector<Vector<double>> depths(num_threads);
    share_out((height + at_once - 1) / at_once, num_threads, [&](std::size_t thread, std::size_t band) {
        const Span rows{band * at_once, std::min(height, (band + 1) * at_once)};
        auto& depth = depths[thread];
        depth.assign((rows.last - rows.first) * width, -INFINITE);
        scan(polygons, reach, rows, width, [&](std::size_t row, Span span, std::size_t polygon) {
            double* here = depth.data() + (row - rows.first) * width;
            const double* plane = planes[polygon];
            for (std::size_t column = span.first; column < span.last; ++column) {
                const double found = depth_at(plane, static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5);
                if (found > here[column]) {
                    here[column] = found;
                    nearest[row][column] = static_cast<std::int32_t>(polygon);
                }
            }
        });
        return true;
    });
    return nearest;
}

Vector<float> blended_polygons(const PolygonsView& polygons, Rows<const double> planes, Rows<const double> colors,
                               std::size_t height, std::size_t width, std::size_t num_threads) {
    Vector<float> picture;
    picture.assign(height * width * 4, 0.0f);
    const auto reach = rows_of(polygons, height);
    share_out((height + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, num_threads, [&](std::size_t, std::size_t band) {
        const Span rows{band * ROWS_AT_ONCE, std::min(height, (band + 1) * ROWS_AT_ONCE)};
        std::vector<Fragment> found;
        scan(polygons, reach, rows, width, [&](std::size_t row, Span span, std::size_t polygon) {
            for (std::size_t column = span.first; column < span.last; ++column)
                found.push_back({static_cast<std::uint32_t>((row - rows.first) * width + column),
                                 static_cast<std::int32_t>(polygon),
                                 depth_at(planes[polygon], static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5)});
        });
        // Sorted by pixels, in their order otherwise, and then by depth within each.
        std::vector<std::size_t> ends((rows.last - rows.first) * width + 1, 0);
        for (const auto& one : found) ++ends[one.pixel + 1];
        for (std::size_t pixel = 1; pixel < ends.size(); ++pixel) ends[pixel] += ends[pixel - 1];
        std::vector<Fragment> sorted(found.size());
        auto places = ends;
        for (const auto& one : found) sorted[places[one.pixel]++] = one;
        for (std::size_t pixel = 0; pixel + 1 < ends.size(); ++pixel) {
            std::sort(sorted.begin() + ends[pixel], sorted.begin() + ends[pixel + 1], [](const auto& one, const auto& two) {
                return one.depth > two.depth || (one.depth == two.depth && one.polygon < two.polygon);
            });
            float* seen = picture.data() + (rows.first * width + pixel) * 4;
            float light = 1.0f;
            for (std::size_t i = ends[pixel]; i < ends[pixel + 1] && light > DARK; ++i) {
                const double* color = colors[sorted[i].polygon];
                const float share = light * static_cast<float>(color[3]);
                for (int channel = 0; channel < 3; ++channel) seen[channel] += share * static_cast<float>(color[channel]);
                seen[3] += share;
                light -= share;
            }
        }
        return true;
    });
    return picture;
}

VisibleParts visible_parts(Rows<const double> starts, Rows<const double> ends, Rows<const std::int32_t> nearest,
                           Rows<const double> planes, double slack) {
    VisibleParts found{{}, Table<double>(0, 2)};
    const double height = static_cast<double>(nearest.size()), width = static_cast<double>(nearest.width());
    for (std::size_t piece = 0; piece < starts.size(); ++piece) {
        const double *start = starts[piece], *end = ends[piece];
        double first, last;
        if (!clip(start, end, width, height, first, last)) continue;
        const double length = std::hypot(end[0] - start[0], end[1] - start[1]) * (last - first);
        const double number = std::min(std::ceil(length), width + height) + 1.0;
        bool is_running = false;
        for (double step = 0.0; step < number; ++step) {
            const double share = first + (last - first) * (step + 0.5) / number;
            double point[3];
            for (int axis = 0; axis < 3; ++axis) point[axis] = start[axis] + share * (end[axis] - start[axis]);
            const bool is_seen = !is_hidden(point, nearest, planes, slack);
            if (is_seen && !is_running) {
                found.pieces.push_back(static_cast<std::int64_t>(piece));
                found.shares.add()[0] = first + (last - first) * step / number;
            }
            if (is_seen) found.shares[found.shares.size() - 1][1] = first + (last - first) * (step + 1.0) / number;
            is_running = is_seen;
        }
    }
    return found;
}

}  // namespace reluscope
