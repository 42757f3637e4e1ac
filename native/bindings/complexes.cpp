#include "../kernels/complexes.hpp"

#include "../kernels/cell_bounds.hpp"
#include "../kernels/chains.hpp"
#include "../kernels/heights.hpp"
#include "../kernels/spanning_vertices.hpp"
#include "../kernels/splitting.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using In32 = In<std::int32_t, 1>;
using In64 = In<std::int64_t, 1>;

ComplexView complex_view(const In<std::int32_t, 2>& start, const In<std::int32_t, 2>& count, const In32& pool,
                         const In64& size) {
    const ComplexView cells{rows(start), rows(count), view(pool), view(size)};
    const std::size_t dim = cells.size.size() - 1, most = cells.start.width();
    expect(cells.size.size() > 1 && cells.start.size() == dim + 1 && cells.count.size() == dim + 1 &&
               cells.count.width() == most && are_below(cells.size, most + 1),
           "expected starts and lengths of the lists of all faces, from vertices to cells");
    for (std::size_t k = 1; k <= dim; ++k) {
        const auto number = static_cast<std::size_t>(cells.size[k]);
        const View<std::int32_t> starts{cells.start[k], number}, counts{cells.count[k], number};
        expect_ranges(starts, counts, cells.pool);
        for (std::size_t f = 0; f < number; ++f)
            expect(are_below(cells.pool.subspan(starts[f], counts[f]), static_cast<std::size_t>(cells.size[k - 1])) &&
                       (k > 1 || counts[f] == 2),
                   "expected faces with a boundary of faces, and edges with two ends");
    }
    return cells;
}

bool have_sizes(std::size_t size, std::initializer_list<std::size_t> others) {
    return std::all_of(others.begin(), others.end(), [size](std::size_t other) { return other == size; });
}

// Corners of cells, at least one for each, with a centre and a radius for every unit.
void expect_corners(const In<double, 2>& centers, const In<double, 2>& radii, const In64& offsets) {
    expect(radii.shape(0) == centers.shape(0) && radii.shape(1) == centers.shape(1) &&
               are_offsets(view(offsets), centers.shape(0)),
           "expected a radius for every centre, and offsets of cells in ascending order within the corners");
}

}  // namespace

void bind_complexes(nb::module_& module) {
    module.def(
        "gather_lists",
        // Entries of the pool are copied, and name no places here.
        [](In32 start, In32 count, Borrowed<std::int32_t, 1> pool) {
            expect_ranges(view(start), view(count), view(pool));
            return give(unlocked([&] { return gather_lists(view(start), view(count), view(pool)); }));
        },
        "start"_a, "count"_a, "pool"_a);
    module.def(
        "find_cofaces",
        [](In64 offsets, In32 ids, std::size_t num_facets) {
            expect_lists(lists(offsets, ids), num_facets);
            auto found = unlocked([&] { return find_cofaces(lists(offsets, ids), num_facets); });
            return nb::make_tuple(give(std::move(found.left)), give(std::move(found.right)));
        },
        "offsets"_a, "ids"_a, "num_facets"_a);
    module.def(
        "reduce_columns",
        [](In64 offsets, In32 ids, std::size_t num_rows, In<bool, 1> is_cleared) {
            const auto columns = lists(offsets, ids);
            expect_lists(columns, num_rows);
            expect(is_cleared.shape(0) == columns.size(), "expected for every column whether it is cleared");
            return give(unlocked([&] { return reduce_columns(columns, num_rows, view(is_cleared)); }));
        },
        "offsets"_a, "ids"_a, "num_rows"_a, "is_cleared"_a);
    module.def(
        "unite_lists",
        [](In32 start, In32 count, In32 pool, In64 offsets, In32 ids, std::size_t num_vertices) {
            const auto below = lists(offsets, ids);
            expect_lists(below, num_vertices);
            expect_ranges(view(start), view(count), view(pool));
            for (std::size_t face = 0; face < start.shape(0); ++face)
                expect(are_below(view(pool).subspan(view(start)[face], view(count)[face]), below.size()),
                       "expected boundaries of faces that there are");
            return give(unlocked([&] {
                return unite_lists(view(start), view(count), view(pool), below, num_vertices);
            }));
        },
        "start"_a, "count"_a, "pool"_a, "offsets"_a, "ids"_a, "num_vertices"_a);
    module.def(
        "extract",
        [](In<std::int32_t, 2> start, In<std::int32_t, 2> count, In32 pool, In64 size, In64 cells) {
            const auto whole = complex_view(start, count, pool, size);
            expect(are_below(view(cells), static_cast<std::size_t>(whole.size.back())), "expected cells of the complex");
            auto part = unlocked([&] { return extract(whole, view(cells)); });
            auto& made = part.complex;
            return nb::make_tuple(give(std::move(made.start)), give(std::move(made.count)), give(std::move(made.pool)),
                                  give(std::move(made.size)), give(std::move(part.vertices)),
                                  give(std::move(part.edges)), give(std::move(part.facets)));
        },
        "start"_a, "count"_a, "pool"_a, "size"_a, "cells"_a);
    module.def(
        "subdivide",
        [](In<std::int32_t, 2> start, In<std::int32_t, 2> count, In32 pool, In64 size, In<double, 2> points,
           In<double, 1> blur, In<double, 1> skew, In<double, 1> factor, In<double, 1> drift, In64 seams,
           In<double, 2> heights, In<double, 1> rounding, In<double, 1> slopes, In<double, 1> floor, std::size_t limit) {
            const auto cells = complex_view(start, count, pool, size);
            const auto number = [&](std::size_t dim) { return static_cast<std::size_t>(cells.size[dim]); };
            expect(have_sizes(number(0), {points.shape(0), blur.shape(0), factor.shape(0), drift.shape(0), heights.shape(0)}) &&
                       skew.shape(0) == number(1) && seams.shape(0) == number(cells.size.size() - 2),
                   "expected points, errors and heights of all vertices, a skew of all edges and a seam of all facets");
            expect(have_sizes(heights.shape(1), {rounding.shape(0), slopes.shape(0), floor.shape(0)}),
                   "expected a rounding, a slope and a floor of every cut");
            auto made = unlocked([&] {
                return subdivide(cells, {rows(points), view(blur), view(skew), view(factor), view(drift)},
                                 view(seams), rows(heights), {view(rounding), view(slopes), view(floor)}, limit);
            });
            return nb::make_tuple(
                nb::make_tuple(give(std::move(made.complex.start)), give(std::move(made.complex.count)),
                               give(std::move(made.complex.pool)), give(std::move(made.complex.size))),
                give(std::move(made.seams)), give(std::move(made.parent)), give(std::move(made.sides)),
                give(std::move(made.tail)), give(std::move(made.head)), give(std::move(made.share)),
                give(std::move(made.heights)), give(std::move(made.snapped)),
                nb::make_tuple(give(std::move(made.points)), give(std::move(made.blur)), give(std::move(made.skew)),
                               give(std::move(made.factor)), give(std::move(made.drift))),
                made.num_done, made.num_undecided);
        },
        "start"_a, "count"_a, "pool"_a, "size"_a, "points"_a, "blur"_a, "skew"_a, "factor"_a,
        "drift"_a, "seams"_a, "heights"_a, "rounding"_a, "slopes"_a, "floor"_a, "limit"_a);
    module.def(
        "interpolate",
        [](InOut<double, 2> table, Borrowed<std::int64_t, 1> tail, Borrowed<std::int64_t, 1> head, In<double, 1> share) {
            expect(have_sizes(tail.shape(0), {head.shape(0), share.shape(0)}) && tail.shape(0) <= table.shape(0),
                   "expected a share and two rows of the table for each of its last rows");
            unlocked([&] { interpolate(rows(table), view(tail), view(head), view(share)); });
        },
        nb::arg("rows").noconvert(), "tail"_a, "head"_a, "share"_a);
    module.def(
        "interpolate_bent",
        [](InOut<double, 2> table, In<double, 2> values, In<double, 2> weight, In64 tail, In64 head,
           In<double, 1> share) {
            expect(have_sizes(tail.shape(0), {head.shape(0), share.shape(0)}) && tail.shape(0) <= table.shape(0) &&
                       are_below(view(tail), table.shape(0)) && are_below(view(head), table.shape(0)),
                   "expected a share and two rows of the table for each of its last rows");
            expect(values.shape(0) == table.shape(0) && weight.shape(0) == table.shape(1) &&
                       weight.shape(1) == values.shape(1),
                   "expected values for every row, and a matrix from them to the columns of the table");
            unlocked([&] {
                interpolate_bent(rows(table), rows(values), rows(weight), view(tail), view(head), view(share));
            });
        },
        nb::arg("rows").noconvert(), "values"_a, "weight"_a, "tail"_a, "head"_a, "share"_a);
    module.def(
        "spanning_vertices",
        [](In64 offsets, In32 ids, In<double, 2> points, In<double, 1> kinks, In<double, 1> factor,
           In<double, 1> drift, double most_factor, double most_drift) {
            expect_lists(lists(offsets, ids), points.shape(0));
            expect(points.shape(1) == 2 &&
                       have_sizes(points.shape(0), {kinks.shape(0), factor.shape(0), drift.shape(0)}),
                   "expected points of the plane, and three bounds on errors of each");
            auto found = unlocked([&] {
                return spanning_vertices(lists(offsets, ids), rows(points), view(kinks), view(factor), view(drift),
                                         most_factor, most_drift);
            });
            return nb::make_tuple(give(std::move(found.evaluated)), give(std::move(found.derived)),
                                  give(std::move(found.of)), give(std::move(found.weights)),
                                  give(std::move(found.factor)), give(std::move(found.drift)), found.roundings);
        },
        "offsets"_a, "ids"_a, "points"_a, "kinks"_a, "factor"_a, "drift"_a, "most_factor"_a, "most_drift"_a);
    module.def(
        "combine_rows",
        [](InOut<double, 2> table, In64 derived, In64 offsets, In32 ids, In<double, 1> weights) {
            expect_lists(lists(offsets, ids), table.shape(0));
            expect(offsets.shape(0) == derived.shape(0) + 1 && weights.shape(0) == ids.shape(0) &&
                       are_below(view(derived), table.shape(0)),
                   "expected a list of rows for every row that is filled, and a weight of each");
            unlocked([&] { combine_rows(rows(table), view(derived), lists(offsets, ids), view(weights)); });
        },
        nb::arg("rows").noconvert(), "derived"_a, "offsets"_a, "ids"_a, "weights"_a);
    module.def(
        "steepest",
        [](In<double, 2> heights, In<double, 2> points, In32 ends) {
            expect(points.shape(0) == heights.shape(0) && ends.shape(0) % 2 == 0 && are_below(view(ends), heights.shape(0)),
                   "expected a point for every row of heights, and two rows for every edge");
            return give(unlocked([&] { return steepest(rows(heights), rows(points), view(ends)); }));
        },
        "heights"_a, "points"_a, "ends"_a);
    module.def(
        "column_ranges",
        [](In<double, 2> heights) {
            auto found = unlocked([&] { return column_ranges(rows(heights)); });
            return nb::make_tuple(give(std::move(found.low)), give(std::move(found.high)));
        },
        "heights"_a);
    module.def(
        "cell_ranges",
        [](In<double, 2> centers, In<double, 2> radii, In64 offsets) {
            expect_corners(centers, radii, offsets);
            auto found = unlocked([&] { return cell_ranges(rows(centers), rows(radii), view(offsets)); });
            return nb::make_tuple(give(std::move(found.low)), give(std::move(found.high)));
        },
        "centers"_a, "radii"_a, "offsets"_a);
    module.def(
        "relax",
        [](In<double, 2> low, In<double, 2> high, In<double, 2> breakpoints, In<double, 2> slopes,
           In<double, 2> intercepts, double rounding) {
            const std::size_t width = low.shape(1), pieces = slopes.shape(0);
            expect(high.shape(0) == low.shape(0) && have_sizes(width, {high.shape(1), breakpoints.shape(1),
                                                                       slopes.shape(1), intercepts.shape(1)}) &&
                       pieces == breakpoints.shape(0) + 1 && intercepts.shape(0) == pieces,
                   "expected two ends for every unit on every cell, and its breakpoints, slopes and intercepts");
            const PiecesView functions{rows(breakpoints), rows(slopes), rows(intercepts)};
            auto found = unlocked([&] { return relax(rows(low), rows(high), functions, rounding); });
            return nb::make_tuple(give(std::move(found.below.slopes)), give(std::move(found.below.starts)),
                                  give(std::move(found.above.slopes)), give(std::move(found.above.starts)),
                                  give(std::move(found.range.low)), give(std::move(found.range.high)));
        },
        "low"_a, "high"_a, "breakpoints"_a, "slopes"_a, "intercepts"_a, "rounding"_a);
    module.def(
        "between_lines",
        [](In<double, 2> centers, In<double, 2> radii, In64 offsets, In<double, 2> below_slopes,
           In<double, 2> below_starts, In<double, 2> above_slopes, In<double, 2> above_starts, double rounding) {
            expect_corners(centers, radii, offsets);
            const std::size_t cells = offsets.shape(0) - 1;
            expect(view(offsets).front() == 0 && view(offsets).back() == static_cast<std::int64_t>(centers.shape(0)),
                   "expected offsets of all corners");
            for (const auto& table : {below_slopes, below_starts, above_slopes, above_starts})
                expect(table.shape(0) == cells && table.shape(1) == centers.shape(1),
                       "expected slopes and starts for every unit on every cell");
            const LinesView below{rows(below_slopes), rows(below_starts)}, above{rows(above_slopes), rows(above_starts)};
            auto found = unlocked(
                [&] { return between_lines(rows(centers), rows(radii), view(offsets), below, above, rounding); });
            return nb::make_tuple(give(std::move(found.centers)), give(std::move(found.radii)));
        },
        "centers"_a, "radii"_a, "offsets"_a, "below_slopes"_a, "below_starts"_a, "above_slopes"_a, "above_starts"_a,
        "rounding"_a);
}

}  // namespace reluscope
