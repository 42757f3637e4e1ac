#include <algorithm>
#include <stdexcept>

#include "../kernels/cut_cells.hpp"
#include "../kernels/maps_behind.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using In64 = In<std::int64_t, 1>;
template <class T> using In3 = In<T, 3>;

// Rows of the last axis.
template <class T> Rows<const T> flat_rows(const Borrowed<T, 3>& array) {
    return {data_of(array), array.shape(0) * array.shape(1), array.shape(2)};
}

template <class T> bool has_shape(const Borrowed<T, 3>& array, std::size_t first, std::size_t second, std::size_t third) {
    return array.shape(0) == first && array.shape(1) == second && array.shape(2) == third;
}

// Offsets of so many lists, from the first entry to the last.
bool are_all(View<std::int64_t> offsets, std::size_t number, std::size_t end) {
    return offsets.size() == number + 1 && are_offsets(offsets, end) && offsets.front() == 0 &&
           offsets.back() == static_cast<std::int64_t>(end);
}

void check(const PolytopesView& cells) {
    const std::size_t number = cells.flat.size(), num_vertices = cells.vertices.size(), num_facets = cells.slots.size();
    expect(are_all(cells.vertex_offsets, number, num_vertices) &&
                are_all(cells.facet_offsets, number, num_facets),
            "expected offsets of cells that end with their rows");
    expect(cells.errors.size() == num_vertices && cells.errors.width() == cells.vertices.width() &&
                cells.tight.size() == num_vertices && cells.vertices.width() > 0 && cells.tight.width() > 0,
            "expected errors and facets of every vertex");
    expect(cells.kinds.size() == num_facets && cells.keys.size() == num_facets && cells.keys.width() == 2 &&
                cells.flat.width() == 2,
            "expected a kind and a key of every facet");
    expect(are_below(cells.slots, 64 * cells.tight.width()), "expected slots for which vertices have bits");
}

nb::tuple give(PolytopeArrays&& made) {
    return nb::make_tuple(give(std::move(made.vertex_offsets)), give(std::move(made.vertices)),
                          give(std::move(made.errors)), give(std::move(made.tight)),
                          give(std::move(made.facet_offsets)), give(std::move(made.slots)),
                          give(std::move(made.kinds)), give(std::move(made.keys)), give(std::move(made.flat)));
}

}  // namespace

void bind_polytopes(nb::module_& module) {
    module.def(
        "cut_cells",
        [](In64 vertex_offsets, In<double, 2> vertices, In<double, 2> vertex_errors, In<Word, 2> tight,
           In64 facet_offsets, In64 slots, In<std::uint8_t, 1> kinds, In<Word, 2> keys, In<Word, 2> flat,
           In3<double> maps, In3<double> errors, In<double, 2> breakpoints, In3<Word> piece_words,
           In3<Word> zero_words, double rounding, In<double, 1> resolution, double relative, In64 map_of_cell, In64 first_units,
           std::size_t max_parts, std::size_t max_vertices, std::size_t max_units, bool is_last, bool keeps_vertices, In<double, 1> corner_scale,
           std::size_t num_threads) {
            const PolytopesView cells{view(vertex_offsets), rows(vertices), rows(vertex_errors), rows(tight),
                                      view(facet_offsets),  view(slots),    view(kinds),         rows(keys),
                                      rows(flat)};
            const std::size_t number = maps.shape(1), num_levels = breakpoints.shape(0), width = maps.shape(2);
            check(cells);
            expect(has_shape(maps, maps.shape(0), number, cells.vertices.width()) &&
                        has_shape(errors, maps.shape(0), number, width) && resolution.shape(0) == width,
                    "expected coefficients of every unit on every cell");
            expect(breakpoints.shape(1) == number && has_shape(piece_words, number, num_levels + 1, 2) &&
                        has_shape(zero_words, number, num_levels, 2),
                    "expected words for all breakpoints and pieces of every unit");
            expect(map_of_cell.shape(0) == cells.size() && are_below(view(map_of_cell), maps.shape(0)) &&
                       first_units.shape(0) == cells.size() && are_below(view(first_units), number + 1),
                    "expected a map and a unit to begin with on every cell");
            expect(max_parts > 0 && max_vertices > 0 && max_units > 0, "expected room for a part, and a unit");
            expect(corner_scale.shape(0) == width, "expected a scale of every coordinate");
            const auto threads = std::min(threads_of(num_threads), std::max<std::size_t>(1, cells.size()));
            auto [made, num_taken] = unlocked([&] {
                return cut_cells(cells,
                                 {number, num_levels, flat_rows(maps), flat_rows(errors), rows(breakpoints),
                                  flat_rows(piece_words), flat_rows(zero_words), {rounding, view(resolution), relative},
                                  view(map_of_cell), view(first_units), {max_parts, max_vertices, max_units}, is_last,
                                  keeps_vertices, view(corner_scale)},
                                 threads);
            });
            return nb::make_tuple(give(std::move(made.cells)), give(std::move(made.parents)),
                                  give(std::move(made.pieces)), give(std::move(made.hashes)), give(std::move(made.next_units)),
                                  give(std::move(made.flat_units)), give(std::move(made.middles)),
                                  give_flags(std::move(made.is_bounded)), give(std::move(made.corner_offsets)),
                                  give(std::move(made.corner_ids)), give(std::move(made.corners)),
                                  give(std::move(made.doubtful)), num_taken, made.num_undecided);
        },
        "vertex_offsets"_a, "vertices"_a, "vertex_errors"_a, "tight"_a, "facet_offsets"_a, "slots"_a, "kinds"_a,
        "keys"_a, "flat"_a, "maps"_a, "errors"_a, "breakpoints"_a, "piece_words"_a, "zero_words"_a, "rounding"_a,
        "resolution"_a, "relative"_a, "map_of_cell"_a, "first_units"_a, "max_parts"_a, "max_vertices"_a, "max_units"_a,
        "is_last"_a, "keeps_vertices"_a, "corner_scale"_a, "num_threads"_a);
    module.def(
        "maps_behind",
        [](In3<double> maps, In3<double> errors, In64 cell_of, Given<std::uint16_t, 2, true> pieces, In<double, 2> slopes,
           In<double, 2> intercepts, In<double, 2> weights, In<double, 1> constants, double rounding,
           std::size_t num_threads) {
            const std::size_t number = maps.shape(1), width = maps.shape(2), num_outputs = weights.shape(1);
            const std::size_t num_cells = pieces.shape(0);
            expect(width > 0 && has_shape(errors, maps.shape(0), number, width) && pieces.shape(1) == number &&
                        cell_of.shape(0) == num_cells && are_below(view(cell_of), maps.shape(0)),
                    "expected maps and pieces of every unit, and a map of every cell");
            expect(weights.shape(0) == number && constants.shape(0) == num_outputs && slopes.shape(1) == number &&
                        intercepts.shape(0) == slopes.shape(0) && intercepts.shape(1) == number,
                    "expected weights, slopes and intercepts of every unit");
            expect(are_below(entries_of(rows(pieces)), slopes.shape(0)), "expected pieces that have slopes");
            const auto threads = threads_of(num_threads);
            auto found = unlocked([&] {
                return maps_behind({flat_rows(maps), flat_rows(errors), view(cell_of), rows(pieces)},
                                   {rows(slopes), rows(intercepts), rows(weights), view(constants), rounding},
                                   threads);
            });
            const auto shape = {num_cells, num_outputs, width};
            return nb::make_tuple(shaped<double>(std::move(found.maps.entries()), shape),
                                  shaped<double>(std::move(found.errors.entries()), shape));
        },
        "maps"_a, "errors"_a, "cell_of"_a, "pieces"_a, "slopes"_a, "intercepts"_a, "weights"_a, "constants"_a,
        "rounding"_a, "num_threads"_a);
}

}  // namespace reluscope
