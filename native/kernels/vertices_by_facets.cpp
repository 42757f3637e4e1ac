#include "vertices_by_facets.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace reluscope {

void VerticesByFacets::restart(std::size_t number) {
    // Of most sets of facets there are two vertices: half of the room is taken, and never all of it.
    const std::size_t room = std::bit_ceil(number + 1);
    if (entries_.size() < room || ++search_ == 0) {
        entries_.assign(std::max(room, entries_.size()), {0, 0, 0});
        search_ = 1;
    }
    mask_ = left_ = room - 1;
    shift_ = 64 - std::countr_zero(room);
}

std::uint32_t& VerticesByFacets::find_or_add(Word facets, std::uint32_t vertex) {
    // Multiplication brings all bits to the top (Fibonacci hashing).
    std::size_t at = shift_ == 64 ? 0 : facets * 0x9E3779B97F4A7C15ULL >> shift_;
    while (entries_[at].search == search_ && entries_[at].facets != facets) at = (at + 1) & mask_;
    if (entries_[at].search != search_) {
        // One place stays free, where searches end: facets may be written to by another thread.
        if (!left_--) throw std::invalid_argument("expected as many facets at each vertex as dimensions");
        entries_[at] = {facets, vertex, search_};
    }
    return entries_[at].vertex;
}

}  // namespace reluscope
