#include "../kernels/codes.hpp"

#include <stdexcept>

#include "../kernels/hyperplanes.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using Values = In<double, 4>;

void require(bool holds) {
    if (!holds) throw std::invalid_argument("the shapes of the arrays do not belong together");
}

GroupedGate grouped_gate(const In<Word, 2>& words, std::size_t num_planes, std::size_t width, const Values& values,
                         const In<double, 2>& noise, const In<double, 2>& thresholds, const In<std::int64_t, 1>& slot) {
    const std::size_t num_units = noise.shape(1);
    require(words.shape(0) == slot.shape(0) && words.shape(1) == num_planes * width && num_units <= 64 * width);
    require(values.shape(0) == noise.shape(0) && values.shape(1) == num_units && thresholds.shape(0) == num_units);
    return {rows(words),  num_planes,       width,     values.data(), values.shape(2), values.shape(3),
            rows(noise), rows(thresholds), view(slot)};
}

}  // namespace

void bind_codes(nb::module_& module) {
    using In64 = In<std::int64_t, 1>;
    using Words = In<Word, 2>;
    module.def(
        "group_equal_rows",
        [](Words words) {
            auto found = unlocked([&] { return group_equal_rows(rows(words)); });
            return nb::make_tuple(give(std::move(found.first)), give(std::move(found.inverse)),
                                  give(std::move(found.counts)));
        },
        "words"_a);
    module.def(
        "are_rows_equal",
        [](Words words, In64 first, In64 second) {
            return give_flags(unlocked([&] { return are_rows_equal(rows(words), view(first), view(second)); }));
        },
        "words"_a, "first"_a, "second"_a);
    module.def(
        "differences",
        [](Words words, In64 first, In64 second, In64 starts, In64 planes, In64 widths, In64 units) {
            auto found = unlocked([&] {
                return differences(rows(words), view(first), view(second),
                                   {view(starts), view(planes), view(widths), view(units)});
            });
            return nb::make_tuple(give(std::move(found.offsets)), give(std::move(found.units)));
        },
        "words"_a, "first"_a, "second"_a, "starts"_a, "planes"_a, "widths"_a, "units"_a);
    module.def(
        "tile_distances",
        [](Words table, Words columns, In<std::int64_t, 2> units, Word stop) {
            return give(unlocked([&] { return tile_distances(rows(table), rows(columns), rows(units), stop); }));
        },
        "rows"_a, "columns"_a, "units"_a, "stop"_a);
    module.def(
        "long_distances",
        [](Words table, Words columns) {
            return give(unlocked([&] { return long_distances(rows(table), rows(columns)); }));
        },
        "rows"_a, "columns"_a);
    module.def(
        "keep_nearest",
        [](Words tile, std::int64_t first_column, std::int64_t first_row, InOut<std::int64_t, 2> distances,
           InOut<std::int64_t, 2> found) {
            unlocked([&] { keep_nearest(rows(tile), first_column, first_row, rows(distances), rows(found)); });
        },
        "tile"_a, "first_column"_a, "first_row"_a, nb::arg("distances").noconvert(), nb::arg("rows").noconvert());
    module.def(
        "search_pairs",
        [](Words words, std::size_t num_planes, std::size_t width, Values values, In<double, 2> noise,
           In<double, 2> thresholds, In64 slot, In64 members, Words alone, double proportional) {
            const auto gate = grouped_gate(words, num_planes, width, values, noise, thresholds, slot);
            require(alone.shape(0) == noise.shape(0) && alone.shape(1) == width);
            auto found = unlocked([&] { return search_pairs(gate, view(members), rows(alone), proportional); });
            return nb::make_tuple(give(std::move(found.pairs)), give(std::move(found.lines)),
                                  give_flags(std::move(found.is_clear)));
        },
        "words"_a, "num_planes"_a, "width"_a, "values"_a, "noise"_a, "thresholds"_a, "slot"_a, "members"_a, "alone"_a,
        "proportional"_a);
    module.def(
        "stays",
        [](Words words, std::size_t num_planes, std::size_t width, Values values, In<double, 2> noise,
           In<double, 2> thresholds, In64 slot, In<std::int64_t, 2> pairs, In<double, 2> lines, double proportional) {
            const auto gate = grouped_gate(words, num_planes, width, values, noise, thresholds, slot);
            require(pairs.shape(1) == 2 && lines.shape(0) == pairs.shape(0) && lines.shape(1) == values.shape(3));
            return give_flags(unlocked([&] { return stays(gate, rows(pairs), rows(lines), proportional); }));
        },
        "words"_a, "num_planes"_a, "width"_a, "values"_a, "noise"_a, "thresholds"_a, "slot"_a, "pairs"_a, "lines"_a,
        "proportional"_a);
}

}  // namespace reluscope
