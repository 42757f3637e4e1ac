#include "complexes.hpp"

#include <algorithm>

namespace reluscope {

ComplexArrays::ComplexArrays(Vector<std::int64_t> number) : size(std::move(number)) {
    const auto most = static_cast<std::size_t>(*std::max_element(size.begin(), size.end()));
    start = count = Table<std::int32_t>(size.size(), most, 0);
}

Lists gather_lists(View<std::int32_t> start, View<std::int32_t> count, View<std::int32_t> pool) {
    Lists lists;
    lists.offsets.resize(count.size() + 1);
    lists.offsets[0] = 0;
    for (std::size_t f = 0; f < count.size(); ++f) lists.offsets[f + 1] = lists.offsets[f] + count[f];
    lists.ids.resize(lists.offsets.back());
    for (std::size_t f = 0; f < count.size(); ++f)
        std::copy_n(pool.begin() + start[f], count[f], lists.ids.begin() + lists.offsets[f]);
    return lists;
}

Cofaces find_cofaces(ListsView cells, std::size_t num_facets) {
    Cofaces beside{Vector<std::int64_t>(num_facets, NONE), Vector<std::int64_t>(num_facets, NONE)};
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
        for (const auto facet : cells[cell])
            (beside.left[facet] == NONE ? beside.left : beside.right)[facet] = static_cast<std::int64_t>(cell);
    return beside;
}

Lists unite_lists(View<std::int32_t> start, View<std::int32_t> count, View<std::int32_t> pool, ListsView below,
                  std::size_t num_vertices) {
    Lists lists;
    lists.offsets.assign(start.size() + 1, 0);
    // The face for which a vertex was listed last.
    Vector<std::int32_t> stamp(num_vertices, NONE);
    for (std::size_t face = 0; face < start.size(); ++face) {
        for (const auto child : pool.subspan(start[face], count[face]))
            for (const auto vertex : below[child])
                if (stamp[vertex] != static_cast<std::int32_t>(face)) {
                    stamp[vertex] = static_cast<std::int32_t>(face);
                    lists.ids.push_back(vertex);
                }
        lists.offsets[face + 1] = static_cast<std::int64_t>(lists.ids.size());
    }
    return lists;
}

Extract extract(const ComplexView& from, View<std::int64_t> cells) {
    const std::size_t dim = from.size.size() - 1;
    std::vector<Vector<std::int32_t>> new_id(dim + 1), old_id(dim + 1);
    for (std::size_t k = 0; k <= dim; ++k) new_id[k].assign(from.size[k], NONE);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        new_id[dim][cells[i]] = static_cast<std::int32_t>(i);
        old_id[dim].push_back(static_cast<std::int32_t>(cells[i]));
    }
    std::size_t total = 0;
    for (std::size_t k = dim; k > 0; --k)
        for (const auto face : old_id[k]) {
            total += from.count[k][face];
            for (const auto child : from.pool.subspan(from.start[k][face], from.count[k][face]))
                if (new_id[k - 1][child] == NONE) {
                    new_id[k - 1][child] = static_cast<std::int32_t>(old_id[k - 1].size());
                    old_id[k - 1].push_back(child);
                }
        }
    Vector<std::int64_t> number;
    for (const auto& faces : old_id) number.push_back(static_cast<std::int64_t>(faces.size()));
    Extract part{ComplexArrays(std::move(number)), {}, {}, {}};
    auto& made = part.complex;
    made.pool.reserve(total);
    for (std::size_t k = 1; k <= dim; ++k)
        for (std::size_t f = 0; f < old_id[k].size(); ++f) {
            const auto face = old_id[k][f];
            made.start[k][f] = static_cast<std::int32_t>(made.pool.size());
            made.count[k][f] = from.count[k][face];
            for (const auto child : from.pool.subspan(from.start[k][face], from.count[k][face]))
                made.pool.push_back(new_id[k - 1][child]);
        }
    part.vertices.assign(old_id[0].begin(), old_id[0].end());
    part.edges.assign(old_id[1].begin(), old_id[1].end());
    part.facets.assign(old_id[dim - 1].begin(), old_id[dim - 1].end());
    return part;
}

}  // namespace reluscope
