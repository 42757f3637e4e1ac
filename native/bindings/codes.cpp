#include "../kernels/codes.hpp"

#include "numpy.hpp"

namespace reluscope {

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
}

}  // namespace reluscope
