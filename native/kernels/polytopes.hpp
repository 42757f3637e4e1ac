// Polytopes side by side, each with its own vertices and facets: see reluscope.geometry.cutting.polytopes.
#pragma once

#include <algorithm>
#include <array>

#include "arrays.hpp"

namespace reluscope {

using Word = std::uint64_t;

// Kinds of facets: where units bend; the same number as in reluscope.geometry.cutting.polytopes.
inline constexpr std::uint8_t INNER = 0;

// What both sides of a facet know it by.
struct Key {
    std::array<Word, 2> words{};
    Key() = default;
    explicit Key(const Word* from) : words{from[0], from[1]} {}
    Key& operator^=(const Key& other) {
        words[0] ^= other.words[0];
        words[1] ^= other.words[1];
        return *this;
    }
    friend Key operator^(Key one, const Key& other) { return one ^= other; }
};

// The same rows with more words, for more slots.
inline Table<Word> widened(const Table<Word>& rows, std::size_t width) {
    Table<Word> wider(rows.size(), width, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) std::copy_n(rows[row], rows.width(), wider[row]);
    return wider;
}

template <class T> void append(Table<T>& table, const T* rows, std::size_t number) {
    const std::size_t before = table.size();
    table.resize(before + number);
    std::copy_n(rows, number * table.width(), table[before]);
}

struct PolytopesView {
    View<std::int64_t> vertex_offsets;
    Rows<const double> vertices, errors;
    Rows<const Word> tight;
    View<std::int64_t> facet_offsets, slots;
    View<std::uint8_t> kinds;
    Rows<const Word> keys, flat;
    std::size_t size() const { return vertex_offsets.size() - 1; }
};

struct PolytopeArrays {
    Vector<std::int64_t> vertex_offsets, facet_offsets, slots;
    Table<double> vertices, errors;
    Table<Word> tight, keys, flat;
    Vector<std::uint8_t> kinds;

    PolytopeArrays(std::size_t width, std::size_t num_words)
        : vertex_offsets(1, 0),
          facet_offsets(1, 0),
          vertices(0, width),
          errors(0, width),
          tight(0, num_words),
          keys(0, 2),
          flat(0, 2) {}

    // Keep so many cells, the first ones.
    void resize(std::size_t number) {
        resize(number, static_cast<std::size_t>(vertex_offsets[number]), static_cast<std::size_t>(facet_offsets[number]));
    }
    // Room for so many cells, and for so many vertices and facets of all of them.
    void resize(std::size_t number, std::size_t num_vertices, std::size_t num_facets) {
        vertex_offsets.resize(number + 1);
        facet_offsets.resize(number + 1);
        vertices.resize(num_vertices);
        errors.resize(num_vertices);
        tight.resize(num_vertices);
        slots.resize(num_facets);
        kinds.resize(num_facets);
        keys.resize(num_facets);
        flat.resize(number);
    }
    // Slots of so many words at least.
    void widen(std::size_t num_words) {
        if (tight.width() < num_words) tight = widened(tight, num_words);
    }
};

}  // namespace reluscope
