#include "candidates.hpp"

#include <algorithm>

namespace reluscope {
namespace {

// Whether candidate b is nowhere behind a and ahead of it somewhere, or the first of two that are equal everywhere.
bool dominates(Candidates<const double> pre, std::size_t unit, std::size_t a, std::size_t b, double margin, bool ties) {
    bool always_ties = true;
    for (std::size_t v = 0; v < pre.num_vertices(); ++v) {
        const double lead = pre(v, unit)[b] - pre(v, unit)[a];
        if (ties && lead == 0) continue;
        always_ties = false;
        if (lead <= margin) return false;
    }
    return !(always_ties && b > a);
}

bool is_equal_somewhere(Candidates<const double> pre, std::size_t unit, std::size_t a, std::size_t b) {
    for (std::size_t v = 0; v < pre.num_vertices(); ++v)
        if (pre(v, unit)[a] == pre(v, unit)[b]) return true;
    return false;
}

}  // namespace

RivalPairs find_rivals(Candidates<const double> pre, Rows<const double> margin, bool ties) {
    const std::size_t number = pre.number();
    RivalPairs found;
    found.winner.assign(pre.num_units(), 0);
    found.is_open.assign(pre.num_units(), 0);
    std::vector<char> alive(number);
    for (std::size_t u = 0; u < pre.num_units(); ++u) {
        for (std::size_t a = 0; a < number; ++a) alive[a] = pre(0, u)[a] > -INFINITE;
        // The later of two candidates that are equal everywhere goes.
        for (std::size_t a = number; a-- > 0;)
            for (std::size_t b = 0; b < number && alive[a]; ++b)
                if (b != a && alive[b] && dominates(pre, u, a, b, margin[u][a] + margin[u][b], ties)) alive[a] = false;
        const auto winner = static_cast<std::size_t>(std::find(alive.begin(), alive.end(), true) - alive.begin());
        found.winner[u] = winner < number ? static_cast<std::int64_t>(winner) : 0;
        bool is_open = std::count(alive.begin(), alive.end(), true) > 1;
        // A candidate that was dropped still names the cells on which it ties, if it comes first.
        for (std::size_t b = 0; winner < number && b < winner && !is_open; ++b)
            is_open = is_equal_somewhere(pre, u, b, winner);
        found.is_open[u] = is_open;
        for (std::size_t a = 0; a < number; ++a)
            for (std::size_t b = a + 1; b < number; ++b)
                if (alive[a] && alive[b]) {
                    found.units.push_back(static_cast<std::int64_t>(u));
                    found.first.push_back(static_cast<std::int64_t>(a));
                    found.second.push_back(static_cast<std::int64_t>(b));
                }
    }
    return found;
}

void settle(Candidates<double> pre, Rows<const std::int64_t> pairs, Rows<const double> heights) {
    for (std::size_t v = 0; v < heights.size(); ++v)
        for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
            double* candidates = pre(v, pairs[pair][0]);
            const double one = candidates[pairs[pair][1]], other = candidates[pairs[pair][2]];
            if (heights[v][pair] != 0 || one == other) continue;
            // What ties with zero is zero; all that were equal to one of the two follow, so that copies stay copies.
            const double common = other == 0 ? 0.0 : one;
            for (std::size_t a = 0; a < pre.number(); ++a)
                if (candidates[a] == one || candidates[a] == other) candidates[a] = common;
        }
}

Table<std::uint16_t> winners(Candidates<const double> pre, View<std::int64_t> units, ListsView cells) {
    Table<std::uint16_t> labels(cells.size(), units.size(), 0);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const auto corners = cells[cell];
        for (std::size_t c = 0; c < units.size(); ++c) {
            double least = INFINITE;
            for (std::size_t a = 0; a < pre.number(); ++a) {
                if (pre(corners[0], units[c])[a] == -INFINITE) continue;
                // How far the candidate falls behind at the worst vertex.
                double deficit = 0.0;
                for (const auto v : corners) {
                    const double* candidates = pre(v, units[c]);
                    for (std::size_t b = 0; b < pre.number(); ++b)
                        deficit = std::max(deficit, candidates[b] - candidates[a]);
                }
                if (deficit < least) {
                    labels[cell][c] = static_cast<std::uint16_t>(a);
                    least = deficit;
                }
                if (deficit <= 0) break;
            }
        }
    }
    return labels;
}

}  // namespace reluscope
