// Pairs of codes whose differing units vanish on one hyperplane: see reluscope.analyses.codespace.common_hyperplanes.
#pragma once

#include "codes.hpp"

namespace reluscope {

// What one gate does to codes that are alike in all earlier gates, group by group.
struct GroupedGate {
    // Of every code, by planes of so many words.
    Rows<const Word> words;
    std::size_t num_planes, words_per_plane;
    // Pre-activations (group, unit, candidate, point), and bounds (group, unit) on their rounding.
    const double* values;
    std::size_t num_candidates, num_points;
    Rows<const double> noise;
    // Breakpoints (unit, p), none of a max gate.
    Rows<const double> thresholds;
    // The group of every code.
    View<std::int64_t> slot;
};

struct LinePairs {
    Table<std::int64_t> pairs;
    // A function that vanishes on the hyperplane alone, of length 1 at the points; zero where there is none.
    Table<double> lines;
    Vector<std::uint8_t> is_clear;
    // The place of the first member that was compared with none of those after it.
    std::size_t next = 0;
};
// Pairs of one group that differ in the gate, on one hyperplane. Members are ordered by groups; of a group the packed
// units alone flip on hyperplanes of no other unit. The search begins at one place and ends after a moment.
LinePairs search_pairs(const GroupedGate& gate, View<std::int64_t> members, Rows<const Word> alone, double proportional,
                       std::size_t begin);

// For which pairs all units that differ in a later gate vanish on the pair's hyperplane.
Vector<std::uint8_t> stays(const GroupedGate& gate, Rows<const std::int64_t> pairs, Rows<const double> lines,
                           double proportional);

}  // namespace reluscope
