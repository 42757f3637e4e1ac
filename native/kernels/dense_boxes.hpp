// Boxes of inputs of networks whose layers are matrices in a row, and what is known of all values on each: affine forms
// carried on from the box, and weights carried back to it from what is asked, along lines around each unit.
#pragma once

#include "arrays.hpp"

namespace reluscope {

// Layers W x + b, and after all but the last one a gate of units with one continuous piecewise-linear function each:
// breakpoints in ascending order, infinite ones behind those of units with fewer, slopes and intercepts of pieces.
struct DenseLayers {
    View<std::int64_t> sizes;  // inputs, units of each gate, outputs
    View<double> weights, biases;  // back to back
    Rows<const double> breakpoints, slopes, intercepts;

    std::size_t size() const { return sizes.size() - 1; }
    std::size_t num_units() const { return slopes.width(); }
};

struct BoxRows {
    Rows<const double> centers, halves;  // of the boxes; halves are rounded up
};

// What units see at least and at most, all rounding included; the first and last pieces that they may have; and what
// the absolute terms of sums, those of the outputs among them, add up to.
struct SeenOnBoxes {
    Table<double> low, high, terms;
    Table<std::int32_t> first, last;
};

// Forms of the outputs: centre + weights v + noise e, up to an error, in steps v from the centre of the box, |e| <= 1.
struct FormsOnBoxes {
    SeenOnBoxes seen;
    Table<double> centers, errors;
    Table<double> weights;  // rows of a box below each other, an output each
    Vector<Vector<double>> noise;  // of each box, an output below the other
    Vector<std::int64_t> num_noise;
};

// Units are known to see at least and at most so much, whatever the box. Where that is asked for, ranges of units that
// may change their piece are carried back from these, too.
FormsOnBoxes forms_on_boxes(const DenseLayers& layers, const BoxRows& boxes, View<double> least, View<double> most,
                            bool is_carried_back, std::size_t num_threads);

// Below each of some linear functions of the outputs, on each box: slopes v + offset in steps from the centre, and a
// constant from the values of one gate.
struct BelowOnBoxes {
    Table<double> slopes;  // a function below the other, those of a box together
    Table<double> offsets, constants;
};
BelowOnBoxes below_on_boxes(const DenseLayers& layers, const BoxRows& boxes, Rows<const double> low,
                            Rows<const double> high, Rows<const double> terms, Rows<const double> rows,
                            std::size_t num_threads);

}  // namespace reluscope
