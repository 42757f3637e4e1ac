#include "../kernels/candidates.hpp"
#include "../kernels/neighbors.hpp"
#include "../kernels/parts.hpp"
#include "../kernels/pieces.hpp"
#include "../kernels/polygons.hpp"
#include "../kernels/solids.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using In32 = In<std::int32_t, 1>;
using In64 = In<std::int64_t, 1>;

template <class T> auto candidates(const T& pre) {
    return Candidates(data_of(pre), pre.shape(0), pre.shape(1), pre.shape(2));
}

// What outputs are at vertices of polygons or intervals, each of which has some.
void check_regions(const In<double, 2>& outputs, const In<double, 2>& vertices, const ListsView& regions) {
    expect(outputs.shape(0) == vertices.shape(0), "expected the outputs at every vertex");
    expect(vertices.shape(1) == 1 || vertices.shape(1) == 2, "expected vertices on a line or in a plane");
    expect_lists_of_some(regions, vertices.shape(0));
}

template <class Piece> void bind_pieces(nb::module_& module) {
    module.def(
        "pieces_in_use",
        [](In<Piece, 2> pieces, std::size_t num_pieces) {
            expect(num_pieces <= std::size_t{std::numeric_limits<Piece>::max()} + 1, "expected pieces in their type");
            auto used = unlocked([&] { return pieces_in_use<Piece>(rows(pieces), num_pieces); });
            const std::size_t width = used.width();
            return shaped<bool>(std::move(used.entries()), {num_pieces, width});
        },
        nb::arg("pieces").noconvert(), "num_pieces"_a);
    module.def(
        "count_below",
        [](In<Piece, 2> pieces, In<Piece, 1> constants, In64 parent, In64 units, In<bool, 2> positive) {
            expect(constants.shape(0) == pieces.shape(1) && are_below(view(parent), pieces.shape(0)) &&
                       are_below(view(units), pieces.shape(1)),
                   "expected a constant of every unit, and parents and units in range");
            // There may be columns for units that come later.
            expect(positive.shape(0) == parent.shape(0) && positive.shape(1) >= units.shape(0),
                   "expected a sign of every unit on every cell");
            return give(unlocked([&] {
                return count_below<Piece>(rows(pieces), view(constants), view(parent), view(units), rows(positive));
            }));
        },
        nb::arg("pieces").noconvert(), "constants"_a, "parent"_a, "units"_a, "positive"_a);
}

}  // namespace

void bind_partitions(nb::module_& module) {
    bind_pieces<std::uint8_t>(module);
    bind_pieces<std::uint16_t>(module);
    module.def(
        "settle_at",
        [](InOut<double, 2> pre, In64 units, In<double, 1> levels, In<double, 2> heights, bool is_single) {
            expect(levels.shape(0) == units.shape(0) && heights.shape(1) == units.shape(0) &&
                       heights.shape(0) <= pre.shape(0) && are_below(view(units), pre.shape(1)),
                   "expected a level and heights of every unit, and units in range");
            unlocked([&] { settle_at(rows(pre), view(units), view(levels), rows(heights), is_single); });
        },
        nb::arg("pre").noconvert(), "units"_a, "levels"_a, "heights"_a, "is_single"_a);
    module.def(
        "find_rivals",
        [](In<double, 3> pre, In<double, 2> margin, bool ties) {
            expect(pre.shape(0) > 0 && margin.shape(0) == pre.shape(1) && margin.shape(1) == pre.shape(2),
                   "expected a vertex, and a margin of every candidate");
            auto found = unlocked([&] { return find_rivals(candidates(pre), rows(margin), ties); });
            return nb::make_tuple(give(std::move(found.units)), give(std::move(found.first)),
                                  give(std::move(found.second)), give(std::move(found.winner)),
                                  give_flags(std::move(found.is_open)));
        },
        "pre"_a, "margin"_a, "ties"_a);
    module.def(
        "settle",
        [](InOut<double, 3> pre, In<std::int64_t, 2> pairs, In<double, 2> heights) {
            expect(pairs.shape(1) == 3 && heights.shape(1) == pairs.shape(0) && heights.shape(0) <= pre.shape(0),
                   "expected a unit, two candidates and heights of every pair");
            for (std::size_t pair = 0; pair < pairs.shape(0); ++pair)
                expect(are_below(View<std::int64_t>(rows(pairs)[pair], 1), pre.shape(1)) &&
                           are_below(View<std::int64_t>(rows(pairs)[pair] + 1, 2), pre.shape(2)),
                       "expected units and candidates in range");
            unlocked([&] { settle(candidates(pre), rows(pairs), rows(heights)); });
        },
        nb::arg("pre").noconvert(), "pairs"_a, "heights"_a);
    module.def(
        "winners",
        [](In<double, 3> pre, In64 units, In64 offsets, In32 ids) {
            expect(are_below(view(units), pre.shape(1)), "expected units in range");
            expect_lists_of_some(lists(offsets, ids), pre.shape(0));
            return give(unlocked([&] { return winners(candidates(pre), view(units), lists(offsets, ids)); }));
        },
        "pre"_a, "units"_a, "offsets"_a, "ids"_a);
    module.def(
        "ordered_corners",
        [](In<double, 2> vertices, In64 offsets, In32 ids, In<double, 2> witnesses) {
            check_regions(vertices, vertices, lists(offsets, ids));
            expect(witnesses.shape(0) + 1 == offsets.shape(0) && witnesses.shape(1) == vertices.shape(1),
                   "expected a witness of every region");
            return give(unlocked([&] { return ordered_corners(rows(vertices), lists(offsets, ids), rows(witnesses)); }));
        },
        "vertices"_a, "offsets"_a, "ids"_a, "witnesses"_a);
    module.def(
        "measures",
        [](In<double, 2> vertices, In64 offsets, In32 ids) {
            check_regions(vertices, vertices, lists(offsets, ids));
            return give(unlocked([&] { return measures(rows(vertices), lists(offsets, ids)); }));
        },
        "vertices"_a, "offsets"_a, "ids"_a);
    module.def(
        "find_chords",
        [](In<double, 2> outputs, In<double, 2> vertices, In64 offsets, In32 ids, double error) {
            check_regions(outputs, vertices, lists(offsets, ids));
            expect(outputs.shape(1) > 0, "expected an output");
            auto found = unlocked([&] { return find_chords(rows(outputs), rows(vertices), lists(offsets, ids), error); });
            const std::size_t number = found.regions.size(), dim = vertices.shape(1);
            return nb::make_tuple(give(std::move(found.regions)), give(std::move(found.classes)),
                                  shaped<double>(std::move(found.ends.entries()), {number, dim, dim}));
        },
        "outputs"_a, "vertices"_a, "offsets"_a, "ids"_a, "error"_a);
    module.def(
        "find_flat_facets",
        [](In<double, 2> outputs, In<double, 2> witness, In64 left, In64 right, In<std::int64_t, 2> ends, double error) {
            expect(left.shape(0) == right.shape(0) && ends.shape(0) == left.shape(0) &&
                       are_below(view(left), witness.shape(0)) && are_below(view(right), witness.shape(0)),
                   "expected two regions and the ends of every facet");
            expect(outputs.shape(1) > 0 && witness.shape(1) == outputs.shape(1) &&
                       are_below(entries_of(rows(ends)), outputs.shape(0)),
                   "expected the outputs at every end and witness");
            auto found = unlocked([&] {
                return find_flat_facets(rows(outputs), rows(witness), view(left), view(right), rows(ends), error);
            });
            return nb::make_tuple(give(std::move(found.facets)), give(std::move(found.classes)));
        },
        "outputs"_a, "witness"_a, "left"_a, "right"_a, "ends"_a, "error"_a);
    module.def(
        "winning_parts",
        [](In<double, 2> outputs, In<double, 2> vertices, In64 offsets, In32 ids, In64 regions, double error) {
            check_regions(outputs, vertices, lists(offsets, ids));
            expect(are_below(view(regions), offsets.shape(0) - 1), "expected regions in range");
            auto found = unlocked([&] {
                return winning_parts(rows(outputs), rows(vertices), lists(offsets, ids), view(regions), error);
            });
            return nb::make_tuple(give(std::move(found.classes)), give(std::move(found.regions)),
                                  give(std::move(found.sizes)), give(std::move(found.corners)));
        },
        "outputs"_a, "vertices"_a, "offsets"_a, "ids"_a, "regions"_a, "error"_a);
    module.def(
        "join_facets",
        [](In<std::uint64_t, 2> keys, In64 regions, In<bool, 1> on_walls) {
            expect(keys.shape(1) == 2 && regions.shape(0) == keys.shape(0) && on_walls.shape(0) == keys.shape(0) &&
                       are_below(view(regions), std::numeric_limits<std::int64_t>::max()),
                   "expected two words, a region and whether it is on a wall of every facet");
            auto found = unlocked([&] { return join_facets(rows(keys), view(regions), view(on_walls)); });
            return nb::make_tuple(give(std::move(found.left)), give(std::move(found.right)), found.num_unmatched);
        },
        "keys"_a, "regions"_a, "on_walls"_a);
    module.def(
        "middles",
        [](In64 offsets, In<double, 2> vertices) {
            expect(are_offsets(view(offsets), vertices.shape(0)) && vertices.shape(1) > 0,
                   "expected homogeneous vertices, and offsets in ascending order within them");
            auto found = unlocked([&] { return middles(view(offsets), rows(vertices)); });
            return nb::make_tuple(give(std::move(found.means)), give_flags(std::move(found.is_bounded)));
        },
        "offsets"_a, "vertices"_a);
    module.def(
        "extents",
        [](In<double, 2> points, In64 offsets, In32 ids, In64 faces) {
            expect_lists(lists(offsets, ids), points.shape(0));
            expect(are_below(view(faces), offsets.shape(0) - 1), "expected faces in range");
            auto found = unlocked([&] { return extents(rows(points), lists(offsets, ids), view(faces)); });
            return nb::make_tuple(give(std::move(found.centers)), give(std::move(found.sizes)));
        },
        "points"_a, "offsets"_a, "ids"_a, "faces"_a);
    module.def(
        "nearest_in_place",
        [](In64 seams, In<double, 2> centers, In<double, 1> sizes, In<double, 1> heights, In64 order,
           double coincident) {
            const std::size_t number = order.shape(0);
            expect(seams.shape(0) == number && centers.shape(0) == number && sizes.shape(0) == number &&
                       heights.shape(0) == number && are_below(view(order), number),
                   "expected a seam, a center, a size, a height and a place of every piece");
            return give(unlocked([&] {
                return nearest_in_place(view(seams), rows(centers), view(sizes), view(heights), view(order),
                                        coincident);
            }));
        },
        "seams"_a, "centers"_a, "sizes"_a, "heights"_a, "order"_a, "coincident"_a);
}

}  // namespace reluscope
