// Sets of slots as bits of words: which of many share enough with one.
#pragma once

#include "polytopes.hpp"

namespace reluscope {

// How many slots a set has.
std::size_t num_slots(const Word* set, std::size_t num_words);

// Which of the sets, one in each row, share so many slots with another. There must be room for all of them.
std::size_t find_sharing(const Table<Word>& sets, const Word* other, std::size_t least, std::uint32_t* found);

}  // namespace reluscope
