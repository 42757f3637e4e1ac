// Weights of linear functions carried back through layers in a row, along lines around the units of each gate on a box,
// with constants, and with all rounding.
#pragma once

#include "dense_boxes.hpp"
#include "unit_lines.hpp"

namespace reluscope {

// A matrix whose rows begin at multiples of so many numbers; what is between them is zero.
inline constexpr std::size_t PADDING = 8;
inline std::size_t padded(std::size_t width) { return (width + PADDING - 1) / PADDING * PADDING; }

// out = left[:, which] right[which, :], with sums in the order of which: rows of left, of right and of out begin every so
// many numbers; those of out and right are padded.
struct Factor {
    const double* entries;
    std::size_t step;
};
void product(double* out, std::size_t out_step, std::size_t num_rows, Factor left, Factor right, View<std::int32_t> which);

// Layers as products want them.
class Layers {
public:
    explicit Layers(const DenseLayers& given);

    std::size_t size() const { return given.size(); }
    std::size_t width(std::size_t layer) const { return static_cast<std::size_t>(given.sizes[layer]); }
    UnitFunction unit(std::size_t place) const { return {given.breakpoints, given.slopes, given.intercepts, place}; }

    const DenseLayers& given;
    Vector<Table<double>> weights, magnitudes;  // the second: absolute values, a row for each of what a layer reads
    Vector<const double*> biases;
    Vector<std::size_t> first;  // place of the first unit of each gate, and of the first output
    double rounding;  // of the sums of a function that is carried back, relative to the sum of its absolute terms
};

// A box, and what is known of it, for each unit.
struct BoxSeen {
    const double *center, *half;
    const double *low, *high, *terms;
};

class RowsBack {
public:
    explicit RowsBack(const Layers& layers);

    // Another box: lines are those of its ranges, gate by gate.
    void begin(const BoxSeen& box) { box_ = box; }
    void add_lines(std::size_t gate);

    // Functions of the outputs, or what units of a layer see, and their negatives.
    void carry_outputs(Rows<const double> rows);
    void carry_units(std::size_t layer, View<std::int32_t> units);

    // Slopes, with offsets at the centre; constants from one gate.
    const double* slopes(std::size_t row) const { return weights_.data() + row * step_; }
    double offset(std::size_t row) const;
    double least(std::size_t row) const;
    double constant(std::size_t row) const { return flat_[row]; }

private:
    void clear(std::size_t number, std::size_t width);
    void through_layer(std::size_t layer);
    void through_gate(std::size_t gate);
    void to_inputs(std::size_t layer);

    const Layers& layers_;
    BoxSeen box_{};
    // Of units, gate by gate, with padding as rows of weights have it.
    Vector<double> below_, below_start_, above_, above_start_, least_, most_, line_terms_, value_terms_;
    Vector<std::size_t> places_;
    Vector<Vector<std::int32_t>> live_;  // units of a gate whose lines have a slope
    std::size_t number_ = 0, step_ = 0;
    Vector<double> weights_, next_, constants_, noise_, flat_;
};

}  // namespace reluscope
