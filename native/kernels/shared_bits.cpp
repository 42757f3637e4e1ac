#include "shared_bits.hpp"

#include <bit>

#include "wide.hpp"

namespace reluscope {
namespace {

// Whole numbers: processors that count bits by an instruction of their own find the same.
INLINED std::size_t count(Word word) { return static_cast<std::size_t>(std::popcount(word)); }

// Every row is written and only those that count are kept: nothing has to be predicted.
INLINED std::size_t find_in_words(const Word* sets, std::size_t number, Word other, std::size_t least,
                                  std::uint32_t* found) {
    std::size_t num_found = 0;
    for (std::size_t i = 0; i < number; ++i) {
        found[num_found] = static_cast<std::uint32_t>(i);
        num_found += count(sets[i] & other) >= least;
    }
    return num_found;
}

INLINED std::size_t find_in_rows(const Word* sets, std::size_t number, const Word* other, std::size_t num_words,
                                 std::size_t least, std::uint32_t* found) {
    if (num_words == 1) return find_in_words(sets, number, *other, least, found);
    std::size_t num_found = 0;
    for (std::size_t i = 0; i < number; ++i, sets += num_words) {
        std::size_t shared = 0;
        for (std::size_t k = 0; k < num_words; ++k) shared += count(sets[k] & other[k]);
        found[num_found] = static_cast<std::uint32_t>(i);
        num_found += shared >= least;
    }
    return num_found;
}

using Find = std::size_t (*)(const Word*, std::size_t, const Word*, std::size_t, std::size_t, std::uint32_t*);

std::size_t plain(const Word* sets, std::size_t number, const Word* other, std::size_t num_words, std::size_t least,
                  std::uint32_t* found) {
    return find_in_rows(sets, number, other, num_words, least, found);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) std::size_t counter(const Word* sets, std::size_t number, const Word* other,
                                                      std::size_t num_words, std::size_t least,
                                                      std::uint32_t* found) {
    return find_in_rows(sets, number, other, num_words, least, found);
}

Find best_find() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("popcnt") ? counter : plain;
}
#else
Find best_find() { return plain; }
#endif

const Find find = best_find();

}  // namespace

std::size_t num_slots(const Word* set, std::size_t num_words) {
    std::size_t number = 0;
    for (std::size_t k = 0; k < num_words; ++k) number += count(set[k]);
    return number;
}

std::size_t find_sharing(const Table<Word>& sets, const Word* other, std::size_t least, std::uint32_t* found) {
    return find(sets[0], sets.size(), other, sets.width(), least, found);
}

}  // namespace reluscope
