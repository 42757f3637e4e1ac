// A hash table of vertices under sets of facets.
#pragma once

#include "polytopes.hpp"

namespace reluscope {

// Finds the first vertex that was added under the same facets.
class VerticesByFacets {
public:
    // Forgets all, and makes room for so many; more of them are an error.
    void restart(std::size_t number);
    std::uint32_t& find_or_add(Word facets, std::uint32_t vertex);

private:
    struct Entry {
        Word facets;
        std::uint32_t vertex, search;
    };
    Vector<Entry> entries_;
    std::size_t mask_ = 0, left_ = 0;
    int shift_ = 0;
    std::uint32_t search_ = 0;
};

}  // namespace reluscope
