// Max gates: which candidates can win on a few cells, and which one does. See reluscope.partitions.complexes.candidates.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Candidates (v, u, k): of every unit at every vertex, -inf where there is none.
template <class T> class Candidates {
public:
    Candidates(T* data, std::size_t vertices, std::size_t units, std::size_t number)
        : data_(data), vertices_(vertices), units_(units), number_(number) {}
    T* operator()(std::size_t vertex, std::size_t unit) const { return data_ + (vertex * units_ + unit) * number_; }
    std::size_t num_vertices() const { return vertices_; }
    std::size_t num_units() const { return units_; }
    std::size_t number() const { return number_; }

private:
    T* data_;
    std::size_t vertices_, units_, number_;
};

struct RivalPairs {
    Vector<std::int64_t> units, first, second, winner;
    Vector<std::uint8_t> is_open;
};
RivalPairs find_rivals(Candidates<const double> pre, Rows<const double> margin, bool ties);

void settle(Candidates<double> pre, Rows<const std::int64_t> pairs, Rows<const double> heights);

Table<std::uint16_t> winners(Candidates<const double> pre, View<std::int64_t> units, ListsView cells);

}  // namespace reluscope
