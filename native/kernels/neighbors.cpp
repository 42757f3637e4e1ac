#include "neighbors.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace reluscope {
namespace {

// So many facets have a table that stays in the cache.
constexpr std::size_t FEW = 4096;

struct Facet {
    std::uint64_t key[2];
    std::int64_t region;
    bool on_wall;
};

// The facets of one key.
struct Sides {
    std::uint64_t key[2];
    std::int64_t low, high;
    bool is_single, on_wall;
};

// Adds the sides of some facets, among which are all of their keys.
void group(View<Facet> facets, Vector<std::int64_t>& places, Vector<Sides>& groups) {
    // Keys are random, so that their low bits serve as they are.
    const std::size_t room = std::bit_ceil(2 * facets.size() + 1);
    places.assign(room, NONE);
    for (const auto& [key, region, on_wall] : facets) {
        std::size_t at = key[0] & (room - 1);
        while (places[at] != NONE && (groups[places[at]].key[0] != key[0] || groups[places[at]].key[1] != key[1]))
            at = (at + 1) & (room - 1);
        if (places[at] == NONE) {
            places[at] = static_cast<std::int64_t>(groups.size());
            groups.push_back({{key[0], key[1]}, region, region, true, on_wall});
            continue;
        }
        Sides& sides = groups[places[at]];
        sides.low = std::min(sides.low, region);
        sides.high = std::max(sides.high, region);
        sides.is_single = false;
        sides.on_wall |= on_wall;
    }
}

// Facets are dealt out by the high bits of their keys first.
Vector<Sides> grouped(Rows<const std::uint64_t> keys, View<std::int64_t> regions, View<bool> on_walls) {
    const int num_bits = static_cast<int>(std::bit_width(keys.size() / FEW));
    const auto deal = [&](std::size_t f) { return num_bits == 0 ? 0 : keys[f][0] >> (64 - num_bits); };
    Vector<std::size_t> ends((std::size_t{1} << num_bits) + 1, 0);
    for (std::size_t f = 0; f < keys.size(); ++f) ++ends[deal(f) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Vector<std::size_t> next(ends.begin(), ends.end() - 1);
    Vector<Facet> facets(keys.size());
    for (std::size_t f = 0; f < keys.size(); ++f)
        facets[next[deal(f)]++] = {{keys[f][0], keys[f][1]}, regions[f], on_walls[f]};
    Vector<Sides> groups;
    groups.reserve(keys.size() / 2 + 1);
    Vector<std::int64_t> places;
    for (std::size_t part = 0; part < next.size(); ++part)
        group(View<Facet>(facets).subspan(ends[part], ends[part + 1] - ends[part]), places, groups);
    return groups;
}

}  // namespace

Neighbors join_facets(Rows<const std::uint64_t> keys, View<std::int64_t> regions, View<bool> on_walls) {
    const Vector<Sides> groups = grouped(keys, regions, on_walls);
    Neighbors found;
    std::int64_t num_regions = 0;
    for (const Sides& sides : groups) {
        found.num_unmatched += sides.is_single || (sides.low == sides.high && !sides.on_wall);
        num_regions = std::max(num_regions, sides.high + 1);
    }
    // Rows of a table, one for each smaller region.
    Vector<std::int64_t> ends(static_cast<std::size_t>(num_regions) + 1, 0);
    for (const Sides& sides : groups) ends[sides.low + 1] += sides.low < sides.high;
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Vector<std::int64_t> next(ends.begin(), ends.end() - 1), larger(static_cast<std::size_t>(ends.back()));
    for (const Sides& sides : groups)
        if (sides.low < sides.high) larger[next[sides.low]++] = sides.high;
    found.left.reserve(larger.size());
    found.right.reserve(larger.size());
    for (std::int64_t low = 0; low < num_regions; ++low) {
        const auto first = larger.begin() + ends[low];
        auto last = larger.begin() + ends[low + 1];
        std::sort(first, last);
        last = std::unique(first, last);
        found.left.insert(found.left.end(), static_cast<std::size_t>(last - first), low);
        found.right.insert(found.right.end(), first, last);
    }
    return found;
}

}  // namespace reluscope
