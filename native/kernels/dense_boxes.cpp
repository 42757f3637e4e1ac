#include "dense_boxes.hpp"

#include <numeric>

#include "rows_back.hpp"
#include "threads.hpp"
#include "wide.hpp"

namespace reluscope {
namespace {

// A breakpoint that a range passes by no more than so many bounds on rounding is not passed.
constexpr double CLEAR = 5.0;
// Where more units of a gate may change their piece, their ranges are not carried back: that would cost more than half a box.
constexpr std::size_t MOST_BENT = 16;

// sums += the rows of a table, by factors, two at a time.
WIDE void add_rows(double* sums, double* others, std::size_t width, Factor rows, const double* factors,
                   const double* other_factors, std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) {
        const double factor = factors[i], other = other_factors[i], *row = rows.entries + i * rows.step;
        if (factor == 0.0 && other == 0.0) continue;
        for (std::size_t k = 0; k < width; ++k) {
            sums[k] += factor * row[k];
            others[k] += other * row[k];
        }
    }
}

// Sums of absolute entries of rows, by scales: a lane for each of the places that products have.
WIDE void weigh(double* sums, Factor rows, std::size_t number, std::size_t width, const double* scales) {
    for (std::size_t i = 0; i < number; ++i) {
        double lanes[PADDING] = {};
        const double* row = rows.entries + i * rows.step;
        for (std::size_t k = 0; k < width; k += PADDING)
            for (std::size_t lane = 0; lane < PADDING; ++lane) lanes[lane] += std::abs(row[k + lane]) * scales[k + lane];
        double sum = 0.0;
        for (const double lane : lanes) sum += lane;
        sums[i] = sum;
    }
}

// The forms of one box after another: columns are the centre, inputs and symbols of noise.
class Forward {
public:
    Forward(const Layers& layers, View<double> least, View<double> most, bool is_carried_back)
        : layers_(layers), back_(layers), least_(least), most_(most), is_carried_back_(is_carried_back) {}

    void run(FormsOnBoxes& found, const BoxRows& boxes, std::size_t box) {
        auto& seen = found.seen;
        low_ = seen.low[box];
        high_ = seen.high[box];
        terms_ = seen.terms[box];
        first_ = seen.first[box];
        last_ = seen.last[box];
        half_ = boxes.halves[box];
        back_.begin({boxes.centers[box], half_, low_, high_, terms_});
        begin(boxes.centers[box]);
        for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
            through_layer(layer);
            if (layer + 1 < layers_.size()) through_gate(layer);
        }
        give(found, box);
    }

private:
    void begin(const double* center) {
        const std::size_t dim = layers_.width(0);
        count_ = dim + 1;
        step_ = padded(count_);
        forms_.assign(dim * step_, 0.0);
        scales_.assign(step_, 0.0);
        std::copy_n(half_, dim, scales_.data() + 1);
        size_.resize(dim);
        error_.assign(dim, 0.0);
        live_.resize(dim);
        std::iota(live_.begin(), live_.end(), 0);
        for (std::size_t k = 0; k < dim; ++k) {
            forms_[k * step_] = center[k];
            forms_[k * step_ + k + 1] = 1.0;
            size_[k] = std::abs(center[k]) + half_[k];
        }
    }

    void through_layer(std::size_t layer) {
        const std::size_t reads = layers_.width(layer), gives = layers_.width(layer + 1);
        const auto &weights = layers_.weights[layer], &absolute = layers_.magnitudes[layer];
        const double *bias = layers_.biases[layer], unit = static_cast<double>(reads + 16) * ROUNDED;
        next_.resize(gives * step_);
        product(next_.data(), step_, gives, {weights[0], weights.width()}, {forms_.data(), step_}, live_);
        forms_.swap(next_);
        Vector<double> sizes(absolute.width(), 0.0), errors(absolute.width(), 0.0);
        for (std::size_t k = 0; k < reads; ++k) error_[k] += unit * size_[k];
        add_rows(sizes.data(), errors.data(), absolute.width(), {absolute[0], absolute.width()}, size_.data(),
                 error_.data(), reads);
        for (std::size_t i = 0; i < gives; ++i) {
            sizes[i] = (sizes[i] + std::abs(bias[i])) * (1 + 4 * unit);
            errors[i] = (errors[i] + unit * std::abs(bias[i])) * (1 + 4 * unit);
            forms_[i * step_] += bias[i];
        }
        size_.swap(sizes);
        error_.swap(errors);
        std::copy_n(size_.data(), gives, terms_ + layers_.first[layer]);
    }

    void through_gate(std::size_t gate) {
        const std::size_t start = layers_.first[gate], units = layers_.width(gate + 1);
        Vector<double> reaches(units);
        Vector<std::int32_t> bent;
        weigh(reaches.data(), {forms_.data(), step_}, units, step_, scales_.data());
        const double widened = 1 + static_cast<double>(2 * count_ + 16) * ROUNDED;
        for (std::size_t i = 0; i < units; ++i) {
            const double own = reaches[i] = reaches[i] * widened + error_[i], middle = forms_[i * step_];
            low_[start + i] = std::max(middle - own - error_[i], least_[start + i]);
            high_[start + i] = std::min(middle + own + error_[i], most_[start + i]);
            if (layers_.unit(start + i).bends(low_[start + i] + CLEAR * error_[i], high_[start + i] - CLEAR * error_[i]))
                bent.push_back(static_cast<std::int32_t>(i));
        }
        if (is_carried_back_ && gate > 0 && !bent.empty() && bent.size() <= MOST_BENT) {
            back_.carry_units(gate, bent);
            for (std::size_t i = 0; i < bent.size(); ++i) {
                const std::size_t place = start + static_cast<std::size_t>(bent[i]);
                low_[place] = std::max(low_[place], back_.least(2 * i));
                high_[place] = std::min(high_[place], -back_.least(2 * i + 1));
            }
        }
        choose_pieces(gate);
        if (is_carried_back_) back_.add_lines(gate);
        bend(gate, reaches);
    }

    // The pieces that units may have.
    void choose_pieces(std::size_t gate) {
        const std::size_t start = layers_.first[gate], units = layers_.width(gate + 1);
        opened_.clear();
        for (std::size_t i = 0; i < units; ++i) {
            const UnitFunction unit = layers_.unit(start + i);
            const double low = low_[start + i], high = high_[start + i], clear = CLEAR * error_[i];
            const double least = std::min(low + clear, high), most = high - clear;
            std::int32_t first = 0, last = 0;
            if (!std::isfinite(low + high + clear)) {
                low_[start + i] = -INFINITE;
                high_[start + i] = INFINITE;
                last = static_cast<std::int32_t>(unit.num_levels());
            }
            for (std::size_t k = 0; k < unit.num_levels(); ++k) {
                first += unit.level(k) < least;
                last += unit.level(k) < most;
            }
            first_[start + i] = first;
            last_[start + i] = std::max(first, last);
            if (last > first) opened_.push_back(static_cast<std::int32_t>(i));
        }
    }

    // Forms of what the gate gives: chords where it may be on several pieces, with a symbol of noise each.
    void bend(std::size_t gate, const Vector<double>& reaches) {
        const std::size_t start = layers_.first[gate], units = layers_.width(gate + 1), before = step_;
        const std::size_t count = count_ + opened_.size();
        step_ = padded(count);
        next_.resize(units * step_);
        scales_.resize(step_);
        std::fill(scales_.begin() + static_cast<std::ptrdiff_t>(count_), scales_.end(), 0.0);
        std::fill_n(scales_.begin() + static_cast<std::ptrdiff_t>(count_), opened_.size(), 1.0);
        live_.clear();
        std::size_t fresh = count_;
        for (std::size_t i = 0; i < units; ++i) {
            const UnitFunction unit = layers_.unit(start + i);
            const double low = low_[start + i], high = high_[start + i], size = std::abs(forms_[i * before]) + reaches[i];
            const auto first = static_cast<std::size_t>(first_[start + i]);
            const bool is_open = last_[start + i] > first_[start + i];
            Chord chord{unit.slope(first), unit.intercept(first), 0.0, 0.0};
            if (is_open) chord = unit.chord(low, high);
            const double slope = chord.slope, terms = std::abs(slope) * size + std::abs(chord.middle) + chord.stray;
            const bool is_kept = (slope == 0.0 || slope == 1.0) && chord.middle == 0.0 && !is_open;
            double error = std::abs(slope) * error_[i] + chord.rounding + (is_kept ? 0.0 : 8 * ROUNDED * terms);
            // What counts as clear of a breakpoint may still be beyond it.
            if (!is_open && unit.bends(low, high)) error += 2 * unit.steepest() * CLEAR * error_[i];
            size_[i] = terms * (1 + 8 * ROUNDED);
            error_[i] = error * (1 + 8 * ROUNDED);
            double* form = next_.data() + i * step_;
            const double* old = forms_.data() + i * before;
            if (slope == 0.0 && chord.middle == 0.0 && !is_open) continue;  // not read
            for (std::size_t k = 0; k < count_; ++k) form[k] = slope * old[k];
            for (std::size_t k = count_; k < step_; ++k) form[k] = 0.0;
            form[0] += chord.middle;
            if (is_open) form[fresh++] = chord.stray;
            live_.push_back(static_cast<std::int32_t>(i));
        }
        count_ = count;
        forms_.swap(next_);
    }

    void give(FormsOnBoxes& found, std::size_t box) {
        const std::size_t dim = layers_.width(0), outputs = layers_.width(layers_.size()), noise = count_ - dim - 1;
        auto& own = found.noise[box];
        own.resize(outputs * noise);
        found.num_noise[box] = static_cast<std::int64_t>(noise);
        for (std::size_t i = 0; i < outputs; ++i) {
            const double* form = forms_.data() + i * step_;
            // Functions of the outputs are sums of these, too.
            const double error = error_[i] + static_cast<double>(outputs + count_) * ROUNDED * size_[i];
            found.centers[box][i] = form[0];
            found.errors[box][i] = error;
            std::copy_n(form + 1, dim, found.weights[box * outputs + i]);
            std::copy_n(form + dim + 1, noise, own.data() + i * noise);
            double sum = error;
            for (std::size_t k = 0; k < count_; ++k) sum += std::abs(form[k]);
            if (!std::isfinite(sum)) forget(found, box, i);
        }
    }

    // Says nothing of an output whose forms are too large for float64.
    void forget(FormsOnBoxes& found, std::size_t box, std::size_t output) const {
        const std::size_t dim = layers_.width(0), outputs = layers_.width(layers_.size()), noise = count_ - dim - 1;
        found.centers[box][output] = 0.0;
        found.errors[box][output] = INFINITE;
        std::fill_n(found.weights[box * outputs + output], dim, 0.0);
        std::fill_n(found.noise[box].data() + output * noise, noise, 0.0);
    }

    const Layers& layers_;
    RowsBack back_;
    View<double> least_, most_;
    bool is_carried_back_;
    const double* half_ = nullptr;
    double *low_ = nullptr, *high_ = nullptr, *terms_ = nullptr;
    std::int32_t *first_ = nullptr, *last_ = nullptr;
    std::size_t count_ = 0, step_ = 0;
    Vector<double> forms_, next_, scales_, size_, error_;
    Vector<std::int32_t> live_, opened_;
};

}  // namespace

FormsOnBoxes forms_on_boxes(const DenseLayers& given, const BoxRows& boxes, View<double> least, View<double> most,
                            bool is_carried_back, std::size_t num_threads) {
    const Layers layers(given);
    const std::size_t number = boxes.centers.size(), units = given.num_units(), dim = layers.width(0);
    const std::size_t outputs = layers.width(layers.size());
    FormsOnBoxes found{{Table<double>(number, units), Table<double>(number, units), Table<double>(number, units + outputs),
                        Table<std::int32_t>(number, units), Table<std::int32_t>(number, units)},
                       Table<double>(number, outputs),
                       Table<double>(number, outputs),
                       Table<double>(number * outputs, dim),
                       Vector<Vector<double>>(number),
                       Vector<std::int64_t>(number)};
    Vector<Forward> rooms;
    rooms.reserve(num_threads);
    for (std::size_t thread = 0; thread < num_threads; ++thread) rooms.emplace_back(layers, least, most, is_carried_back);
    share_out(number, num_threads, [&](std::size_t thread, std::size_t box) {
        rooms[thread].run(found, boxes, box);
        return true;
    });
    return found;
}

BelowOnBoxes below_on_boxes(const DenseLayers& given, const BoxRows& boxes, Rows<const double> low,
                            Rows<const double> high, Rows<const double> terms, Rows<const double> rows,
                            std::size_t num_threads) {
    const Layers layers(given);
    const std::size_t number = boxes.centers.size(), height = rows.size(), dim = layers.width(0);
    BelowOnBoxes found{Table<double>(number * height, dim), Table<double>(number, height), Table<double>(number, height)};
    Vector<RowsBack> rooms;
    rooms.reserve(num_threads);
    for (std::size_t thread = 0; thread < num_threads; ++thread) rooms.emplace_back(layers);
    share_out(number, num_threads, [&](std::size_t thread, std::size_t box) {
        RowsBack& back = rooms[thread];
        back.begin({boxes.centers[box], boxes.halves[box], low[box], high[box], terms[box]});
        for (std::size_t gate = 0; gate + 1 < layers.size(); ++gate) back.add_lines(gate);
        back.carry_outputs(rows);
        for (std::size_t row = 0; row < height; ++row) {
            double *slopes = found.slopes[box * height + row], sum = back.offset(row);
            std::copy_n(back.slopes(row), dim, slopes);
            found.offsets[box][row] = back.offset(row);
            found.constants[box][row] = back.constant(row);
            for (std::size_t k = 0; k < dim; ++k) sum += std::abs(slopes[k]);
            if (std::isfinite(sum)) continue;
            std::fill_n(slopes, dim, 0.0);
            found.offsets[box][row] = -INFINITE;
        }
        return true;
    });
    return found;
}

}  // namespace reluscope
