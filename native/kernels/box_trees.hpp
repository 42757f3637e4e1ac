// Boxes of inputs on which few units may change their piece, halved until each is farther from a point than a limit
// wherever a function of the outputs may be negative, or few codes are left on it.
//
// On a box a network is one of its open units alone: what they see are affine functions of the inputs and of what open
// units before them give. The smaller the box, the fewer there are, and all other arithmetic is done already.
#pragma once

#include "dense_boxes.hpp"

namespace reluscope {

enum class Length { sum, euclidean, largest };

struct NearQuestion {
    View<double> point;
    Rows<const double> functions;  // of the outputs
    Length norm;
    double limit;    // boxes at least so far away are not looked at
    double settled;  // and what is as near as the limit, but for rounding
    double near;     // sides of small boxes
    std::size_t most_boxes;  // halved of each root
    std::size_t codes, codes_near;  // that leaves may have, and small ones
};

// Parts of boxes that are open, each no nearer than its key: leaves, on which few codes are left, and what there was no time for.
struct OpenBoxes {
    Table<double> lower, upper;
    Vector<double> keys;
    Vector<std::uint8_t> is_leaf;
    std::int64_t num_boxes = 0;
    double passed = INFINITE;  // the least key of what is as near as the limit, but for rounding
};

// Units see at least and at most so much on the roots.
OpenBoxes near_boxes(const DenseLayers& layers, Rows<const double> lower, Rows<const double> upper, View<double> keys,
                     Rows<const double> low, Rows<const double> high, const NearQuestion& question);

}  // namespace reluscope
