#include "codes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "wide.hpp"

namespace reluscope {

Groups group_equal_rows(Rows<const Word> words) {
    const std::size_t number = words.size(), width = words.width();
    const std::size_t mask = std::bit_ceil(std::max<std::size_t>(2, 2 * number)) - 1;
    Vector<std::int64_t> table(mask + 1, NONE);
    Vector<Word> hashes;
    Groups found;
    found.inverse.resize(number);
    for (std::size_t row = 0; row < number; ++row) {
        // A multiplication spreads low bits upwards, the shift brings them back down.
        Word key = 0x9E3779B97F4A7C15;
        for (std::size_t column = 0; column < width; ++column) {
            key = (key ^ words[row][column]) * 0xD6E8FEB86659FD93;
            key ^= key >> 32;
        }
        for (std::size_t slot = key & mask;; slot = (slot + 1) & mask) {
            auto& group = table[slot];
            if (group == NONE) {
                group = static_cast<std::int64_t>(hashes.size());
                hashes.push_back(key);
                found.first.push_back(static_cast<std::int64_t>(row));
                found.counts.push_back(0);
            } else if (hashes[group] != key || !std::equal(words[row], words[row] + width, words[found.first[group]])) {
                continue;
            }
            found.inverse[row] = group;
            ++found.counts[group];
            break;
        }
    }
    return found;
}

Table<Word> pack_bits(Rows<const std::uint8_t> pieces, unsigned plane) {
    const std::size_t width = pieces.width();
    Table<Word> words(pieces.size(), (width + 63) / 64, 0);
    for (std::size_t row = 0; row < pieces.size(); ++row) {
        const std::uint8_t* entries = pieces[row];
        Word* packed = words[row];
        for (std::size_t i = 0; i < width; i += 8) {
            // Eight entries at a time, the first in the lowest byte: the product brings their bits together at the top.
            Word eight = 0;
            if (std::endian::native == std::endian::little && i + 8 <= width)
                std::memcpy(&eight, entries + i, 8);
            else
                for (std::size_t k = i; k < std::min(i + 8, width); ++k) eight |= Word{entries[k]} << (8 * (k - i));
            const Word bits = (eight >> plane) & 0x0101010101010101;
            packed[i / 64] |= (bits * 0x0102040810204080 >> 56) << (i % 64);
        }
    }
    return words;
}

Vector<std::uint8_t> are_rows_equal(Rows<const Word> words, View<std::int64_t> first, View<std::int64_t> second) {
    Vector<std::uint8_t> equal(first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
        // Each is read once: who else has the array may write to it meanwhile.
        const auto one = static_cast<std::size_t>(first[i]), two = static_cast<std::size_t>(second[i]);
        if (one >= words.size() || two >= words.size()) throw std::invalid_argument("expected pairs of codes that there are");
        const Word* row = words[one];
        equal[i] = std::equal(row, row + words.width(), words[two]);
    }
    return equal;
}

Differences differences(Rows<const Word> words, View<std::int64_t> first, View<std::int64_t> second,
                        const GateWords& gates) {
    Differences found;
    found.offsets.assign(first.size() + 1, 0);
    for (std::size_t pair = 0; pair < first.size(); ++pair) {
        const Word *one = words[first[pair]], *two = words[second[pair]];
        for (std::size_t gate = 0; gate < gates.starts.size(); ++gate)
            for (std::int64_t w = 0; w < gates.widths[gate]; ++w) {
                Word changed = 0;
                for (std::int64_t plane = 0; plane < gates.planes[gate]; ++plane) {
                    const auto column = gates.starts[gate] + plane * gates.widths[gate] + w;
                    changed |= one[column] ^ two[column];
                }
                for (; changed; changed &= changed - 1)
                    found.units.push_back(gates.units[gate] + 64 * w + std::countr_zero(changed));
            }
        found.offsets[pair + 1] = static_cast<std::int64_t>(found.units.size());
    }
    return found;
}

namespace {

// Sums of counted bits, in whole numbers: processors that count faster find the same.
INLINED void add_distances(Word* __restrict row, const Word* __restrict others, Word word, std::size_t number) {
    for (std::size_t j = 0; j < number; ++j) row[j] += static_cast<Word>(std::popcount(word ^ others[j]));
}

// Blocks of 2 x 4 pairs: eight sums stay in registers and every word that is read is used for several.
INLINED void block_distances(const Word* const* one, const Word* const* other, std::size_t width, Word* sums) {
    Word s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    for (std::size_t w = 0; w < width; ++w) {
        const Word x = one[0][w], y = one[1][w];
        const Word a = other[0][w], b = other[1][w], c = other[2][w], d = other[3][w];
        s0 += static_cast<Word>(std::popcount(x ^ a));
        s1 += static_cast<Word>(std::popcount(x ^ b));
        s2 += static_cast<Word>(std::popcount(x ^ c));
        s3 += static_cast<Word>(std::popcount(x ^ d));
        t0 += static_cast<Word>(std::popcount(y ^ a));
        t1 += static_cast<Word>(std::popcount(y ^ b));
        t2 += static_cast<Word>(std::popcount(y ^ c));
        t3 += static_cast<Word>(std::popcount(y ^ d));
    }
    const Word all[] = {s0, s1, s2, s3, t0, t1, t2, t3};
    std::copy(std::begin(all), std::end(all), sums);
}

struct Counting {
    void (*add)(Word*, const Word*, Word, std::size_t);
    void (*block)(const Word* const*, const Word* const*, std::size_t, Word*);
};

#define COUNTING(NAME, ...)                                                                                \
    __VA_ARGS__ void NAME##_add(Word* row, const Word* others, Word word, std::size_t number) {            \
        add_distances(row, others, word, number);                                                          \
    }                                                                                                      \
    __VA_ARGS__ void NAME##_block(const Word* const* one, const Word* const* other, std::size_t width,     \
                                  Word* sums) {                                                            \
        block_distances(one, other, width, sums);                                                          \
    }

COUNTING(plain)
#if defined(__x86_64__) && defined(__GNUC__)
COUNTING(counter, __attribute__((target("popcnt"))))
COUNTING(vector, __attribute__((target("avx512f,avx512vl,avx512vpopcntdq,popcnt"))))

Counting best_counting() {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl"))
        return {vector_add, vector_block};
    if (__builtin_cpu_supports("popcnt")) return {counter_add, counter_block};
    return {plain_add, plain_block};
}
#else
Counting best_counting() { return {plain_add, plain_block}; }
#endif
#undef COUNTING

const Counting counting = best_counting();

}  // namespace

Table<Word> tile_distances(Rows<const Word> rows, Rows<const Word> columns, Rows<const std::int64_t> units, Word stop) {
    const std::size_t number = columns.width();
    Table<Word> distances(rows.size(), number, 0);
    Vector<Word> changed(number);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Word* row = distances[i];
        for (std::size_t q = 0; q < units.size(); ++q) {
            const auto start = units[q][0];
            if (units[q][1] == 1) {
                counting.add(row, columns[start], rows[i][start], number);
            } else {
                std::fill(changed.begin(), changed.end(), 0);
                for (std::int64_t plane = 0; plane < units[q][1]; ++plane) {
                    const auto column = start + plane * units[q][2];
                    const Word word = rows[i][column], *others = columns[column];
                    for (std::size_t j = 0; j < number; ++j) changed[j] |= word ^ others[j];
                }
                counting.add(row, changed.data(), 0, number);
            }
            if (q % 8 == 7 && std::all_of(row, row + number, [stop](Word found) { return found >= stop; })) break;
        }
        for (std::size_t j = 0; j < number; ++j) row[j] = std::min(row[j], stop);
    }
    return distances;
}

Table<Word> long_distances(Rows<const Word> rows, Rows<const Word> columns) {
    Table<Word> distances(rows.size(), columns.size());
    if (columns.size() == 0) return distances;  // a table of no columns may have any number of rows
    // At the ends a block is filled up with codes that are there already.
    for (std::size_t i = 0; i < rows.size(); i += 2)
        for (std::size_t j = 0; j < columns.size(); j += 4) {
            const Word *one[2], *other[4];
            std::size_t row[2], column[4];
            for (std::size_t k = 0; k < 2; ++k) one[k] = rows[row[k] = std::min(i + k, rows.size() - 1)];
            for (std::size_t k = 0; k < 4; ++k) other[k] = columns[column[k] = std::min(j + k, columns.size() - 1)];
            Word sums[8];
            counting.block(one, other, rows.width(), sums);
            for (std::size_t k = 0; k < 8; ++k) distances[row[k / 4]][column[k % 4]] = sums[k];
        }
    return distances;
}

void keep_nearest(Rows<const Word> tile, std::int64_t first_column, std::int64_t first_row, Rows<std::int64_t> distances,
                  Rows<std::int64_t> rows) {
    const std::size_t most = distances.width();
    for (std::size_t i = 0; i < tile.size(); ++i) {
        const std::int64_t own = first_row >= 0 ? first_row + static_cast<std::int64_t>(i) - first_column : -1;
        for (std::size_t j = 0; j < tile.width(); ++j) {
            const auto found = static_cast<std::int64_t>(tile[i][j]);
            if (found >= distances[i][most - 1] || static_cast<std::int64_t>(j) == own) continue;
            std::size_t place = most - 1;
            for (; place > 0 && distances[i][place - 1] > found; --place) {
                distances[i][place] = distances[i][place - 1];
                rows[i][place] = rows[i][place - 1];
            }
            distances[i][place] = found;
            rows[i][place] = first_column + static_cast<std::int64_t>(j);
        }
    }
}

}  // namespace reluscope
