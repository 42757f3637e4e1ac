#include "../kernels/complexes.hpp"

#include "../kernels/splitting.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using In32 = In<std::int32_t, 1>;
using In64 = In<std::int64_t, 1>;

ComplexView complex_view(const In<std::int32_t, 2>& start, const In<std::int32_t, 2>& count, const In32& pool,
                         const In64& size) {
    return {rows(start), rows(count), view(pool), view(size)};
}

}  // namespace

void bind_complexes(nb::module_& module) {
    module.def(
        "gather_lists",
        [](In32 start, In32 count, In32 pool) {
            return give(unlocked([&] { return gather_lists(view(start), view(count), view(pool)); }));
        },
        "start"_a, "count"_a, "pool"_a);
    module.def(
        "find_cofaces",
        [](In64 offsets, In32 ids, std::size_t num_facets) {
            auto found = unlocked([&] { return find_cofaces(lists(offsets, ids), num_facets); });
            return nb::make_tuple(give(std::move(found.left)), give(std::move(found.right)));
        },
        "offsets"_a, "ids"_a, "num_facets"_a);
    module.def(
        "unite_lists",
        [](In32 start, In32 count, In32 pool, In64 offsets, In32 ids, std::size_t num_vertices) {
            return give(unlocked([&] {
                return unite_lists(view(start), view(count), view(pool), lists(offsets, ids), num_vertices);
            }));
        },
        "start"_a, "count"_a, "pool"_a, "offsets"_a, "ids"_a, "num_vertices"_a);
    module.def(
        "extract",
        [](In<std::int32_t, 2> start, In<std::int32_t, 2> count, In32 pool, In64 size, In64 cells) {
            auto part = unlocked([&] { return extract(complex_view(start, count, pool, size), view(cells)); });
            auto& made = part.complex;
            return nb::make_tuple(give(std::move(made.start)), give(std::move(made.count)), give(std::move(made.pool)),
                                  give(std::move(made.size)), give(std::move(part.vertices)),
                                  give(std::move(part.edges)), give(std::move(part.facets)));
        },
        "start"_a, "count"_a, "pool"_a, "size"_a, "cells"_a);
    module.def(
        "subdivide",
        [](In<std::int32_t, 2> start, In<std::int32_t, 2> count, In32 pool, In64 size, In<double, 2> points,
           In<double, 1> blur, In<double, 1> skew, In64 seams, In<double, 2> heights, In<double, 1> rounding,
           In<double, 1> slopes, In<double, 1> floor, std::size_t limit) {
            auto made = unlocked([&] {
                return subdivide(complex_view(start, count, pool, size), {rows(points), view(blur), view(skew)},
                                 view(seams), rows(heights), {view(rounding), view(slopes), view(floor)}, limit);
            });
            return nb::make_tuple(
                nb::make_tuple(give(std::move(made.complex.start)), give(std::move(made.complex.count)),
                               give(std::move(made.complex.pool)), give(std::move(made.complex.size))),
                give(std::move(made.seams)), give(std::move(made.parent)), give(std::move(made.sides)),
                give(std::move(made.tail)), give(std::move(made.head)), give(std::move(made.share)),
                give(std::move(made.heights)), give(std::move(made.snapped)),
                nb::make_tuple(give(std::move(made.points)), give(std::move(made.blur)), give(std::move(made.skew))),
                made.num_done, made.num_undecided);
        },
        "start"_a, "count"_a, "pool"_a, "size"_a, "points"_a, "blur"_a, "skew"_a, "seams"_a, "heights"_a, "rounding"_a,
        "slopes"_a, "floor"_a, "limit"_a);
    module.def(
        "interpolate",
        [](InOut<double, 2> table, In64 tail, In64 head, In<double, 1> share) {
            unlocked([&] { interpolate(rows(table), view(tail), view(head), view(share)); });
        },
        nb::arg("rows").noconvert(), "tail"_a, "head"_a, "share"_a);
    module.def(
        "steepest",
        [](In<double, 2> heights, In<double, 2> points, In32 ends) {
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
}

}  // namespace reluscope
