// Packed codes: equal rows, units that differ, Hamming distances.
#pragma once

#include "arrays.hpp"

namespace reluscope {

using Word = std::uint64_t;

struct Groups {
    Vector<std::int64_t> first, inverse, counts;
};
// Equal rows, grouped in order of first appearance.
Groups group_equal_rows(Rows<const Word> words);

// One bit of every entry, 64 of a row to a word.
Table<Word> pack_bits(Rows<const std::uint8_t> pieces, unsigned plane);

// Whether two rows of each pair are equal.
Vector<std::uint8_t> are_rows_equal(Rows<const Word> words, View<std::int64_t> first, View<std::int64_t> second);

// Where the words of a gate begin in a code, and its number of planes, words in each plane, and first unit.
struct GateWords {
    View<std::int64_t> starts, planes, widths, units;
};
struct Differences {
    Vector<std::int64_t> offsets, units;
};
// The units in which pairs of codes differ.
Differences differences(Rows<const Word> words, View<std::int64_t> first, View<std::int64_t> second,
                        const GateWords& gates);

// Distances of codes in rows (a, w) and in columns (w, b), at most stop: a row ends early once all reach it. For each
// 64 units of a gate: the column of plane 0, the number of planes, the step between planes.
Table<Word> tile_distances(Rows<const Word> rows, Rows<const Word> columns, Rows<const std::int64_t> units, Word stop);

// Distances of codes (a, w) and (b, w) whose units have one bit each.
Table<Word> long_distances(Rows<const Word> rows, Rows<const Word> columns);

// Put the distances of a tile where they belong in sorted lists; with a first row, leave out the diagonal.
void keep_nearest(Rows<const Word> tile, std::int64_t first_column, std::int64_t first_row, Rows<std::int64_t> distances,
                  Rows<std::int64_t> rows);

}  // namespace reluscope
