// Polyhedral complexes by explicit incidences: gathered lists of faces, cofaces, vertices, and parts of a complex.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Face f of dimension k has the boundary pool[start[k][f] : start[k][f] + count[k][f]].
struct ComplexView {
    Rows<const std::int32_t> start, count;
    View<std::int32_t> pool;
    View<std::int64_t> size;
};

struct ComplexArrays {
    ComplexArrays() = default;
    // So many faces of each dimension, whose boundaries are still empty.
    explicit ComplexArrays(Vector<std::int64_t> number);
    Table<std::int32_t> start, count;
    Vector<std::int32_t> pool;
    Vector<std::int64_t> size;
};

Lists gather_lists(View<std::int32_t> start, View<std::int32_t> count, View<std::int32_t> pool);

struct Cofaces {
    Vector<std::int64_t> left, right;
};
Cofaces find_cofaces(ListsView cells, std::size_t num_facets);

// The vertices of faces, given those of the faces one dimension below.
Lists unite_lists(View<std::int32_t> start, View<std::int32_t> count, View<std::int32_t> pool, ListsView below,
                  std::size_t num_vertices);

struct Extract {
    ComplexArrays complex;
    Vector<std::int64_t> vertices, edges, facets;
};
Extract extract(const ComplexView& from, View<std::int64_t> cells);

}  // namespace reluscope
