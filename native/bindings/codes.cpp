#include "../kernels/codes.hpp"

#include "../kernels/hyperplanes.hpp"
#include "checks.hpp"
#include "numpy.hpp"

namespace reluscope {
namespace {

using Values = In<double, 4>;

// Further than any row of a table.
constexpr std::int64_t FAR = std::int64_t{1} << 48;

void check(const GateWords& gates, std::size_t width) {
    const std::size_t number = gates.starts.size();
    bool is_out = gates.planes.size() != number || gates.widths.size() != number || gates.units.size() != number;
    expect(!is_out, "expected a start, planes, words and a first unit of every gate");
    for (std::size_t gate = 0; gate < number; ++gate) {
        const auto start = gates.starts[gate], planes = gates.planes[gate], words = gates.widths[gate];
        const auto most = static_cast<std::int64_t>(width);
        is_out |= start < 0 || planes < 0 || words < 0 || start > most || (words && planes > (most - start) / words) ||
                  words > most || gates.units[gate] < 0 || gates.units[gate] > FAR;
    }
    expect(!is_out, "expected gates within the words of codes");
}

// Each row is the word of a first plane, a number of planes, and the words from one to the next.
void check_units(Rows<const std::int64_t> units, std::size_t width) {
    expect(units.width() == 3, "expected a word, planes and a step for every 64 units");
    const auto most = static_cast<std::int64_t>(width);
    bool is_out = false;
    for (std::size_t q = 0; q < units.size(); ++q) {
        const auto start = units[q][0], planes = units[q][1], step = units[q][2];
        is_out |= start < 0 || start >= most || planes < 1 || planes > most || step < 0 || step > most ||
                  (planes - 1) * step >= most - start;
    }
    expect(!is_out, "expected units within the words of codes");
}

GroupedGate grouped_gate(const In<Word, 2>& words, std::size_t num_planes, std::size_t width, const Values& values,
                         const In<double, 2>& noise, const In<double, 2>& thresholds, const In<std::int64_t, 1>& slot) {
    const std::size_t num_units = noise.shape(1), num_groups = noise.shape(0), num_words = words.shape(1);
    expect(words.shape(0) == slot.shape(0) && num_planes < 64 && width <= num_words &&
               num_words == num_planes * width && num_units <= 64 * width,
           "expected planes of words for all units, and a group of every code");
    expect(values.shape(0) == num_groups && values.shape(1) == num_units && values.shape(2) > 0 &&
               thresholds.shape(0) == num_units,
           "expected values and breakpoints of every unit");
    // A code may be in no group: -1.
    const auto groups = view(slot);
    expect(std::all_of(groups.begin(), groups.end(), [&](auto group) {
               return -1 <= group && group < static_cast<std::int64_t>(num_groups);
           }),
           "expected groups in range");
    return {rows(words),  num_planes,       width,     data_of(values), values.shape(2), values.shape(3),
            rows(noise), rows(thresholds), groups};
}

// Codes, each of which is in a group.
void expect_grouped(const GroupedGate& gate, View<std::int64_t> codes) {
    for (const auto code : codes)
        expect(0 <= code && code < static_cast<std::int64_t>(gate.slot.size()) && gate.slot[code] >= 0,
               "expected codes that are in a group");
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
        "pack_bits",
        [](In<std::uint8_t, 2> pieces, unsigned plane) {
            expect(plane < 8, "expected one of the eight bits of a byte");
            return give(unlocked([&] { return pack_bits(rows(pieces), plane); }));
        },
        nb::arg("pieces").noconvert(), "plane"_a);
    module.def(
        "are_rows_equal",
        [](Words words, Borrowed<std::int64_t, 1> first, Borrowed<std::int64_t, 1> second) {
            expect(first.shape(0) == second.shape(0), "expected pairs of codes");
            return give_flags(unlocked([&] { return are_rows_equal(rows(words), view(first), view(second)); }));
        },
        "words"_a, "first"_a, "second"_a);
    module.def(
        "differences",
        [](Words words, In64 first, In64 second, In64 starts, In64 planes, In64 widths, In64 units) {
            const GateWords gates{view(starts), view(planes), view(widths), view(units)};
            check(gates, words.shape(1));
            expect(first.shape(0) == second.shape(0) && are_below(view(first), words.shape(0)) &&
                       are_below(view(second), words.shape(0)),
                   "expected pairs of codes that there are");
            auto found = unlocked([&] { return differences(rows(words), view(first), view(second), gates); });
            return nb::make_tuple(give(std::move(found.offsets)), give(std::move(found.units)));
        },
        "words"_a, "first"_a, "second"_a, "starts"_a, "planes"_a, "widths"_a, "units"_a);
    module.def(
        "tile_distances",
        [](Words table, Words columns, In<std::int64_t, 2> units, Word stop) {
            expect(table.shape(1) == columns.shape(0), "expected codes of equally many words");
            check_units(rows(units), table.shape(1));
            return give(unlocked([&] { return tile_distances(rows(table), rows(columns), rows(units), stop); }));
        },
        "rows"_a, "columns"_a, "units"_a, "stop"_a);
    module.def(
        "long_distances",
        [](Words table, Words columns) {
            expect(table.shape(1) == columns.shape(1), "expected codes of equally many words");
            return give(unlocked([&] { return long_distances(rows(table), rows(columns)); }));
        },
        "rows"_a, "columns"_a);
    module.def(
        "keep_nearest",
        [](Words tile, std::int64_t first_column, std::int64_t first_row, InOut<std::int64_t, 2> distances,
           InOut<std::int64_t, 2> found) {
            expect(distances.shape(0) == tile.shape(0) && found.shape(0) == tile.shape(0) &&
                       distances.shape(1) == found.shape(1) && found.shape(1) > 0,
                   "expected lists of distances and rows for every row of the tile");
            expect(0 <= first_column && first_column < FAR && first_row < FAR, "expected places in a table");
            unlocked([&] { keep_nearest(rows(tile), first_column, first_row, rows(distances), rows(found)); });
        },
        "tile"_a, "first_column"_a, "first_row"_a, nb::arg("distances").noconvert(), nb::arg("rows").noconvert());
    module.def(
        "search_pairs",
        [](Words words, std::size_t num_planes, std::size_t width, Values values, In<double, 2> noise,
           In<double, 2> thresholds, In64 slot, In64 members, Words alone, double proportional, std::size_t begin) {
            const auto gate = grouped_gate(words, num_planes, width, values, noise, thresholds, slot);
            expect(alone.shape(0) == noise.shape(0) && alone.shape(1) == width, "expected a bit of every unit and group");
            expect_grouped(gate, view(members));
            auto found = unlocked([&] { return search_pairs(gate, view(members), rows(alone), proportional, begin); });
            return nb::make_tuple(give(std::move(found.pairs)), give(std::move(found.lines)),
                                  give_flags(std::move(found.is_clear)), found.next);
        },
        "words"_a, "num_planes"_a, "width"_a, "values"_a, "noise"_a, "thresholds"_a, "slot"_a, "members"_a, "alone"_a,
        "proportional"_a, "begin"_a);
    module.def(
        "stays",
        [](Words words, std::size_t num_planes, std::size_t width, Values values, In<double, 2> noise,
           In<double, 2> thresholds, In64 slot, In<std::int64_t, 2> pairs, In<double, 2> lines, double proportional) {
            const auto gate = grouped_gate(words, num_planes, width, values, noise, thresholds, slot);
            expect(pairs.shape(1) == 2 && lines.shape(0) == pairs.shape(0) && lines.shape(1) == values.shape(3),
                   "expected a line of every pair of codes");
            // The second of a pair may be in a group that is not here: values are those of the first.
            expect(are_below(entries_of(rows(pairs)), words.shape(0)), "expected pairs of codes that there are");
            for (std::size_t pair = 0; pair < pairs.shape(0); ++pair)
                expect_grouped(gate, View<std::int64_t>(rows(pairs)[pair], 1));
            return give_flags(unlocked([&] { return stays(gate, rows(pairs), rows(lines), proportional); }));
        },
        "words"_a, "num_planes"_a, "width"_a, "values"_a, "noise"_a, "thresholds"_a, "slot"_a, "pairs"_a, "lines"_a,
        "proportional"_a);
}

}  // namespace reluscope
