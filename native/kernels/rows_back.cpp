#include "rows_back.hpp"

#include <numeric>

#include "wide.hpp"

namespace reluscope {
namespace {

constexpr std::size_t TALL = 4;

template <std::size_t height>
INLINED void block(double* out, std::size_t out_step, Factor left, const double* right, std::size_t right_step,
                   View<std::int32_t> which) {
    Four sums[height][2] = {}, first, second;
    for (const std::int32_t place : which) {
        const double* entries = right + static_cast<std::size_t>(place) * right_step;
        read(first, entries);
        read(second, entries + PADDING / 2);
        for (std::size_t i = 0; i < height; ++i) {
            const double factor = left.entries[i * left.step + static_cast<std::size_t>(place)];
            add_times(sums[i][0], factor, first);
            add_times(sums[i][1], factor, second);
        }
    }
    for (std::size_t i = 0; i < height; ++i) {
        write(out + i * out_step, sums[i][0]);
        write(out + i * out_step + PADDING / 2, sums[i][1]);
    }
}

struct Lines {
    const double *below, *below_start, *above, *above_start, *least, *most, *line_terms, *value_terms;
};
struct Sums {
    double starts, values, line_terms, value_terms;
};

double sum_of(const double* lanes) {
    double sum = 0.0;
    for (std::size_t lane = 0; lane < PADDING; ++lane) sum += lanes[lane];
    return sum;
}

// Weights of units become weights of what they see, by the lines below units of positive weight and above others.
WIDE Sums along_lines(double* weights, std::size_t width, const Lines& lines) {
    double starts[PADDING] = {}, values[PADDING] = {}, line_terms[PADDING] = {}, value_terms[PADDING] = {};
    for (std::size_t i = 0; i < width; i += PADDING)
        for (std::size_t lane = 0; lane < PADDING; ++lane) {
            const std::size_t k = i + lane;
            const double up = weights[k] > 0.0 ? weights[k] : 0.0, down = weights[k] < 0.0 ? weights[k] : 0.0;
            starts[lane] += up * lines.below_start[k] + down * lines.above_start[k];
            values[lane] += up * lines.least[k] + down * lines.most[k];
            line_terms[lane] += (up - down) * lines.line_terms[k];
            value_terms[lane] += (up - down) * lines.value_terms[k];
            weights[k] = up * lines.below[k] + down * lines.above[k];
        }
    return {sum_of(starts), sum_of(values), sum_of(line_terms), sum_of(value_terms)};
}

}  // namespace

WIDE void product(double* out, std::size_t out_step, std::size_t num_rows, Factor left, Factor right,
                  View<std::int32_t> which) {
    std::size_t row = 0;
    for (; row + TALL <= num_rows; row += TALL)
        for (std::size_t k = 0; k < out_step; k += PADDING)
            block<TALL>(out + row * out_step + k, out_step, {left.entries + row * left.step, left.step},
                        right.entries + k, right.step, which);
    for (; row < num_rows; ++row)
        for (std::size_t k = 0; k < out_step; k += PADDING)
            block<1>(out + row * out_step + k, out_step, {left.entries + row * left.step, left.step}, right.entries + k,
                     right.step, which);
}

Layers::Layers(const DenseLayers& all) : given(all) {
    const double *weight = all.weights.data(), *bias = all.biases.data();
    std::size_t place = 0, total = 0;
    for (std::size_t layer = 0; layer < size(); ++layer) {
        const std::size_t reads = width(layer), gives = width(layer + 1);
        Table<double> own(gives, padded(reads), 0.0), absolute(reads, padded(gives), 0.0);
        for (std::size_t i = 0; i < gives; ++i)
            for (std::size_t k = 0; k < reads; ++k) {
                own[i][k] = weight[i * reads + k];
                absolute[k][i] = std::abs(own[i][k]);
            }
        weights.push_back(std::move(own));
        magnitudes.push_back(std::move(absolute));
        biases.push_back(bias);
        first.push_back(place);
        weight += gives * reads;
        bias += gives;
        place += gives;
        total += reads + gives;
    }
    rounding = static_cast<double>(4 * total + 64) * ROUNDED;
}

RowsBack::RowsBack(const Layers& layers) : layers_(layers), live_(layers.size()) {
    std::size_t number = 0;
    for (std::size_t gate = 0; gate + 1 < layers.size(); ++gate) {
        places_.push_back(number);
        number += padded(layers.width(gate + 1));
    }
    for (auto* table : {&below_, &below_start_, &above_, &above_start_, &least_, &most_, &line_terms_, &value_terms_})
        table->assign(number, 0.0);
}

void RowsBack::add_lines(std::size_t gate) {
    const std::size_t start = layers_.first[gate], number = layers_.width(gate + 1);
    live_[gate].clear();
    for (std::size_t i = 0; i < number; ++i) {
        const std::size_t place = places_[gate] + i;
        const double low = box_.low[start + i], high = box_.high[start + i];
        const UnitLines lines = layers_.unit(start + i).lines(low, high);
        below_[place] = lines.below;
        below_start_[place] = lines.below_start;
        above_[place] = lines.above;
        above_start_[place] = lines.above_start;
        least_[place] = lines.least;
        most_[place] = lines.most;
        const double size = std::max(std::abs(low), std::abs(high));
        line_terms_[place] = std::max(std::abs(lines.below), std::abs(lines.above)) * size +
                             std::max(std::abs(lines.below_start), std::abs(lines.above_start));
        value_terms_[place] = std::max(std::abs(lines.least), std::abs(lines.most));
        if (lines.below != 0.0 || lines.above != 0.0) live_[gate].push_back(static_cast<std::int32_t>(i));
    }
}

void RowsBack::clear(std::size_t number, std::size_t width) {
    number_ = number;
    step_ = padded(width);
    weights_.assign(number * step_, 0.0);
    constants_.assign(number, 0.0);
    noise_.assign(number, 0.0);
    flat_.assign(number, -INFINITE);
}

void RowsBack::carry_outputs(Rows<const double> rows) {
    const std::size_t last = layers_.size() - 1, width = rows.width();
    clear(rows.size(), width);
    for (std::size_t row = 0; row < number_; ++row) std::copy_n(rows[row], width, weights_.data() + row * step_);
    Vector<std::int32_t> all(width);
    std::iota(all.begin(), all.end(), 0);
    live_[last].swap(all);
    through_layer(last);
    to_inputs(last);
}

void RowsBack::carry_units(std::size_t layer, View<std::int32_t> units) {
    clear(2 * units.size(), layers_.width(layer));
    const std::size_t first = layers_.first[layer];
    for (std::size_t row = 0; row < number_; ++row) {
        const auto unit = static_cast<std::size_t>(units[row / 2]);
        const double sign = row % 2 ? -1.0 : 1.0;
        for (std::size_t k = 0; k < step_; ++k) weights_[row * step_ + k] = sign * layers_.weights[layer][unit][k];
        constants_[row] = sign * layers_.biases[layer][unit];
        noise_[row] = layers_.rounding * box_.terms[first + unit];
    }
    to_inputs(layer);
}

void RowsBack::to_inputs(std::size_t layer) {
    for (; layer > 0; --layer) {
        through_gate(layer - 1);
        through_layer(layer - 1);
    }
}

void RowsBack::through_layer(std::size_t layer) {
    const std::size_t reads = layers_.width(layer), gives = layers_.width(layer + 1), next_step = padded(reads);
    const double *bias = layers_.biases[layer], *terms = box_.terms + layers_.first[layer];
    for (std::size_t row = 0; row < number_; ++row) {
        const double* weights = weights_.data() + row * step_;
        double constant = 0.0, noise = 0.0;
        for (std::size_t i = 0; i < gives; ++i) {
            constant += weights[i] * bias[i];
            noise += std::abs(weights[i]) * terms[i];
        }
        constants_[row] += constant;
        noise_[row] += layers_.rounding * noise;
    }
    next_.resize(number_ * next_step);
    product(next_.data(), next_step, number_, {weights_.data(), step_},
            {layers_.weights[layer][0], layers_.weights[layer].width()}, live_[layer]);
    weights_.swap(next_);
    step_ = next_step;
}

void RowsBack::through_gate(std::size_t gate) {
    const std::size_t place = places_[gate];
    const Lines lines{below_.data() + place, below_start_.data() + place, above_.data() + place,
                      above_start_.data() + place, least_.data() + place, most_.data() + place,
                      line_terms_.data() + place, value_terms_.data() + place};
    for (std::size_t row = 0; row < number_; ++row) {
        const Sums sums = along_lines(weights_.data() + row * step_, step_, lines);
        const double rest = noise_[row] + layers_.rounding * (sums.value_terms + std::abs(constants_[row]));
        const double bound = constants_[row] + sums.values - 2 * rest;
        if (std::isfinite(bound)) flat_[row] = std::max(flat_[row], bound);
        constants_[row] += sums.starts;
        noise_[row] += layers_.rounding * sums.line_terms;
    }
}

double RowsBack::offset(std::size_t row) const {
    const double* weights = slopes(row);
    double value = constants_[row], sizes = std::abs(constants_[row]);
    for (std::size_t k = 0; k < layers_.width(0); ++k) {
        value += weights[k] * box_.center[k];
        sizes += std::abs(weights[k]) * (std::abs(box_.center[k]) + box_.half[k]);
    }
    value -= 2 * (noise_[row] + layers_.rounding * sizes);
    return std::isfinite(value) ? value : -INFINITE;
}

double RowsBack::least(std::size_t row) const {
    const double* weights = slopes(row);
    double reach = 0.0;
    for (std::size_t k = 0; k < layers_.width(0); ++k) reach += std::abs(weights[k]) * box_.half[k];
    const double found = offset(row) - reach * (1 + 4 * layers_.rounding);
    return found > flat_[row] ? found : flat_[row];
}

}  // namespace reluscope
