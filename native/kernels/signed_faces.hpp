// The faces of one dimension while cuts go through them: which lie above, which below, and which are to be split.
#pragma once

#include <array>
#include <bit>

#include "arrays.hpp"

namespace reluscope {

using Word = std::uint64_t;

// Signs of so many cuts at a time are kept as the bits of one word.
inline constexpr std::size_t GROUP = 64;

// All faces of one dimension, vertices included.
struct SignedFaces {
    Vector<std::int32_t> start, count;
    // Bit by bit for the cuts of a group: which lie below some point of a face, and which above.
    Vector<Word> above, below;
    // The other half of a face that the cut at hand has split.
    Vector<std::int32_t> other;
    // The last face, two dimensions up, for which this one was seen.
    Vector<std::int64_t> stamp;
    // Of each cut of a group the faces with both signs, as far as they were found before it; some may have lost one.
    std::array<Vector<std::int32_t>, GROUP> crossed;

    std::size_t size() const { return above.size(); }

    std::int32_t add(std::int32_t first, std::int32_t number) {
        start.push_back(first);
        count.push_back(number);
        above.push_back(0);
        below.push_back(0);
        other.push_back(NONE);
        stamp.push_back(NONE);
        return static_cast<std::int32_t>(size() - 1);
    }
};

// Add a face to the lists of some cuts.
inline void enlist(std::array<Vector<std::int32_t>, GROUP>& lists, Word cuts, std::size_t face) {
    for (; cuts; cuts &= cuts - 1) lists[std::countr_zero(cuts)].push_back(static_cast<std::int32_t>(face));
}

}  // namespace reluscope
