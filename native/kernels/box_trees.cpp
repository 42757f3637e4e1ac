#include "box_trees.hpp"

#include <algorithm>
#include <cmath>

#include "cut_distance.hpp"
#include "unit_lines.hpp"
#include "wide.hpp"

namespace reluscope {
namespace {

// Boxes cut off where nothing is asked about them go on as they are where so much of them is gone.
constexpr double CUT_OFF = 0.5;
// Ends of cut boxes are moved outwards by this share of what they are computed from.
constexpr double OUTWARDS = 1e-12;

WIDE void add_multiple(double* sums, double factor, const double* row, std::size_t width) {
    for (std::size_t k = 0; k < width; ++k) sums[k] += factor * row[k];
}

double rounding_of(std::size_t number) { return static_cast<double>(number + 8) * ROUNDED; }

// What open units see, and functions of the outputs: row inputs + row open units before + constant, up to an error that
// holds on a box. A unit's number is its place among all; functions have none and come last.
struct Net {
    std::size_t num_units = 0;
    Table<double> entries;  // a row each: inputs, then units
    Vector<std::size_t> row, first, last, unit;  // the row of each, which units before it counts, and its number
    Vector<double> constant, error, size, low, high;
    Vector<UnitLines> lines;
    Vector<double> reach;  // how large what a unit gives is, at most

    void resize(std::size_t number) {
        for (auto* table : {&row, &first, &last, &unit}) table->resize(number);
        for (auto* table : {&constant, &error, &size, &low, &high, &reach}) table->resize(number);
        lines.resize(number);
    }
};

struct Box {
    Vector<double> lower, upper;
    double key;
    std::size_t depth;
};

class Tree {
public:
    Tree(const DenseLayers& layers, const NearQuestion& question)
        : layers_(layers), question_(question), dim_(static_cast<std::size_t>(layers.sizes[0])),
          num_functions_(question.functions.size()), nets_(2) {
        whole();
    }

    // Halves a box within which units see at least and at most so much; what is left is added to what was found.
    void search(const double* lower, const double* upper, double key, const double* low, const double* high,
                OpenBoxes& found) {
        Net& root = nets_[0];
        for (std::size_t k = 0; k < root.num_units; ++k) {
            root.low[k] = low[k];
            root.high[k] = high[k];
        }
        add_rounding_of_functions();
        std::int64_t left = static_cast<std::int64_t>(question_.most_boxes);
        Vector<Box> stack;
        stack.push_back({{lower, lower + dim_}, {upper, upper + dim_}, key, 1});
        while (!stack.empty()) {
            Box box = std::move(stack.back());
            stack.pop_back();
            if (left-- <= 0) {
                add(found, box, false);
                continue;
            }
            ++found.num_boxes;
            if (nets_.size() <= box.depth) nets_.resize(box.depth + 1);
            narrow(nets_[box.depth - 1], box, nets_[box.depth]);
            look(nets_[box.depth], box, found, stack);
        }
    }

private:
    // Functions of the outputs are sums, too.
    void add_rounding_of_functions() {
        Net& root = nets_[0];
        for (std::size_t i = 0; i < num_functions_; ++i) {
            const std::size_t place = root.num_units + i, first = root.first[place];
            double terms = 0.0;
            for (std::size_t j = first; j < root.last[place]; ++j) {
                const UnitFunction unit{layers_.breakpoints, layers_.slopes, layers_.intercepts, j};
                const UnitLines lines = unit.lines(root.low[j], root.high[j]);
                terms += absolute_[i][j - first] * std::max(std::abs(lines.least), std::abs(lines.most));
            }
            const auto gives = static_cast<std::size_t>(layers_.sizes.back());
            root.error[place] = constant_errors_[i] + rounding_of(gives + root.last[place] - first) * terms;
        }
    }

    // The whole network, all of whose units are open.
    void whole() {
        Net& net = nets_[0];
        const std::size_t units = layers_.num_units(), last = layers_.size() - 1;
        net.num_units = units;
        net.entries = Table<double>(units + num_functions_, dim_ + units, 0.0);
        net.resize(units + num_functions_);
        absolute_ = Table<double>(num_functions_, static_cast<std::size_t>(layers_.sizes[last]), 0.0);
        constant_errors_.resize(num_functions_);
        const double *weight = layers_.weights.data(), *bias = layers_.biases.data();
        std::size_t before = 0, place = 0;
        for (std::size_t layer = 0; layer <= last; ++layer) {
            const auto reads = static_cast<std::size_t>(layers_.sizes[layer]);
            const auto gives = static_cast<std::size_t>(layers_.sizes[layer + 1]);
            const std::size_t first = layer == 0 ? 0 : before, start = layer == 0 ? 0 : dim_ + before;
            const std::size_t number = layer < last ? gives : num_functions_;
            for (std::size_t i = 0; i < number; ++i, ++place) {
                double *entries = net.entries[place], constant = 0.0, terms = 0.0;
                if (layer < last) {
                    std::copy_n(weight + i * reads, reads, entries + start);
                    constant = bias[i];
                } else {
                    for (std::size_t k = 0; k < gives; ++k) {
                        const double factor = question_.functions[i][k];
                        for (std::size_t j = 0; j < reads; ++j) {
                            entries[start + j] += factor * weight[k * reads + j];
                            absolute_[i][j] += std::abs(factor * weight[k * reads + j]);
                        }
                        constant += factor * bias[k];
                        terms += std::abs(factor) * std::abs(bias[k]);
                    }
                }
                net.row[place] = net.unit[place] = place;
                net.first[place] = layer == 0 ? 0 : first;
                net.last[place] = layer == 0 ? 0 : first + reads;
                net.constant[place] = constant;
                net.error[place] = 0.0;
                if (layer == last) constant_errors_[i] = rounding_of(gives) * terms;
            }
            before = layer == 0 ? 0 : before + reads;
            weight += gives * reads;
            bias += gives;
        }
    }

    // How large a row's terms are together on a box.
    double size_of(const Net& net, std::size_t place, const Vector<double>& largest, const Vector<double>& reach) const {
        const double* entries = net.entries[net.row[place]];
        double sum = std::abs(net.constant[place]);
        for (std::size_t i = 0; i < dim_; ++i) sum += std::abs(entries[i]) * largest[i];
        for (std::size_t j = net.first[place]; j < net.last[place]; ++j) sum += std::abs(entries[dim_ + j]) * reach[j];
        return sum * (1 + rounding_of(dim_ + net.last[place]));
    }

    // The network of the units that are open on a part of a net's box.
    void narrow(Net& net, const Box& box, Net& found) {
        const std::size_t number = net.num_units + num_functions_;
        largest_.resize(dim_);
        for (std::size_t i = 0; i < dim_; ++i) largest_[i] = std::max(std::abs(box.lower[i]), std::abs(box.upper[i]));
        if (found.entries.size() < number || found.entries.width() < dim_ + net.num_units)
            found.entries = Table<double>(number, dim_ + net.num_units);
        found.resize(number);
        found.num_units = 0;
        place_.assign(net.num_units, 0);
        is_open_.assign(net.num_units, 0);
        slope_.resize(net.num_units);
        start_.resize(net.num_units);
        closed_.resize(net.num_units);
        std::size_t next = 0;  // where the next open one will be
        for (std::size_t k = 0; k < number; ++k) {
            const bool is_function = k >= net.num_units;
            if (is_function && k == net.num_units) next = found.num_units;
            double* entries = found.entries[k];
            const double* old = net.entries[net.row[k]];
            std::copy_n(old, dim_, entries);
            std::fill_n(entries + dim_, found.num_units, 0.0);
            double constant = net.constant[k], error = net.error[k], terms = 0.0;
            std::size_t steps = 0;
            for (std::size_t j = net.first[k]; j < net.last[k]; ++j) {
                double weight = old[dim_ + j];
                if (weight == 0.0) continue;
                if (is_open_[j]) {
                    entries[dim_ + place_[j]] += weight;
                    terms += std::abs(weight) * found.reach[place_[j]];
                    ++steps;
                    continue;
                }
                constant += weight * start_[j];
                terms += std::abs(weight * start_[j]);
                ++steps;
                if (slope_[j] == 0.0) continue;
                weight *= slope_[j];
                const Closed& own = closed_[j];
                add_multiple(entries, weight, found.entries[j], dim_ + own.width);
                constant += weight * own.constant;
                error += std::abs(weight) * own.error;
                terms += std::abs(weight) * own.size;
            }
            for (std::size_t i = 0; i < dim_; ++i) terms += std::abs(old[i]) * largest_[i];
            terms += std::abs(net.constant[k]);
            error = (error + rounding_of(2 * steps + dim_) * terms) * (1 + rounding_of(2 * steps));
            // A row in the place of the next open unit, or function.
            const std::size_t place = is_function ? next++ : found.num_units;
            found.row[place] = k;
            found.unit[place] = net.unit[k];
            found.first[place] = 0;
            found.last[place] = found.num_units;
            found.constant[place] = constant;
            found.error[place] = error;
            found.size[place] = size_of(found, place, largest_, found.reach);
            if (is_function) continue;
            UnitFunction unit{layers_.breakpoints, layers_.slopes, layers_.intercepts, net.unit[k]};
            double low = net.low[k], high = net.high[k];
            if (unit.bends(low, high)) {
                low = std::max(low, least(found, place, 1.0, box));
                high = std::min(high, -least(found, place, -1.0, box));
            }
            if (low > high) low = high = 0.5 * (low + high);
            const UnitLines lines = unit.lines(low, high);
            if (unit.bends(low, high)) {
                found.low[place] = low;
                found.high[place] = high;
                found.lines[place] = lines;
                found.reach[place] = std::max(std::abs(lines.least), std::abs(lines.most));
                is_open_[k] = 1;
                place_[k] = place;
                ++found.num_units;
            } else {
                slope_[k] = lines.below;
                start_[k] = lines.below_start;
                closed_[k] = {found.num_units, constant, error, found.size[place]};
            }
        }
    }

    // An affine function of the inputs below a row, or its negative: in `slopes_`, and what is returned is its constant.
    double below(const Net& net, std::size_t place, double sign) {
        const std::size_t number = net.last[place];
        const double* own = net.entries[net.row[place]];
        slopes_.resize(dim_ + number);
        for (std::size_t i = 0; i < dim_ + number; ++i) slopes_[i] = sign * own[i];
        double constant = sign * net.constant[place], error = net.error[place], terms = net.size[place];
        std::size_t steps = 0;
        for (std::size_t j = number; j-- > 0;) {
            const double weight = slopes_[dim_ + j];
            if (weight == 0.0) continue;
            const UnitLines& lines = net.lines[j];
            const double start = weight * (weight > 0.0 ? lines.below_start : lines.above_start);
            const double slope = weight * (weight > 0.0 ? lines.below : lines.above);
            constant += start;
            terms += std::abs(start);
            ++steps;
            if (slope == 0.0) continue;
            add_multiple(slopes_.data(), slope, net.entries[net.row[j]], dim_ + j);
            constant += slope * net.constant[j];
            error += std::abs(slope) * net.error[j];
            terms += std::abs(slope) * net.size[j];
        }
        for (std::size_t i = 0; i < dim_; ++i) terms += std::abs(slopes_[i]) * largest_[i];
        const double found = constant - (error * (1 + rounding_of(steps)) + 2 * rounding_of(2 * steps + 2 * dim_) * terms);
        return std::isfinite(found) ? found : -INFINITE;
    }

    // The least that a row, or its negative, can be on a box.
    double least(const Net& net, std::size_t place, double sign, const Box& box) {
        double sum = below(net, place, sign), terms = std::abs(sum);
        for (std::size_t i = 0; i < dim_; ++i) {
            const double part = slopes_[i] * (slopes_[i] > 0.0 ? box.lower[i] : box.upper[i]);
            sum += part;
            terms += std::abs(part);
        }
        const double found = sum - rounding_of(2 * dim_) * terms;
        return std::isfinite(found) ? found : -INFINITE;
    }

    // Bounds how near to the point a function may be negative on a box, and halves it if that is nearer than the limit.
    void look(const Net& net, Box& box, OpenBoxes& found, Vector<Box>& stack) {
        steps_low_.resize(dim_);
        steps_high_.resize(dim_);
        form_.resize(dim_);
        const double* point = question_.point.data();
        for (std::size_t i = 0; i < dim_; ++i) {
            const double rounding = 4 * ROUNDED * (std::abs(point[i]) + largest_[i]);
            steps_low_[i] = box.lower[i] - point[i] - rounding;
            steps_high_[i] = box.upper[i] - point[i] + rounding;
        }
        double nearest = INFINITE;
        weights_.assign(dim_, 0.0);
        left_low_.assign(dim_, INFINITE);
        left_high_.assign(dim_, -INFINITE);
        for (std::size_t t = 0; t < num_functions_; ++t) {
            double level = below(net, net.num_units + t, 1.0), sizes = std::abs(level);
            const bool is_known = level > -INFINITE;
            for (std::size_t i = 0; i < dim_; ++i) {
                form_[i] = is_known ? -slopes_[i] : 0.0;
                level += slopes_[i] * point[i];
                sizes += 2 * std::abs(slopes_[i] * point[i]);
            }
            level = is_known ? level - rounding_of(2 * dim_) * sizes : -INFINITE;
            const double near = is_known ? cut_distance(steps_low_.data(), steps_high_.data(), form_.data(), level, dim_,
                                                        question_.norm, room_)
                                         : 0.0;
            nearest = std::min(nearest, near);
            if (near >= question_.limit) continue;
            for (std::size_t i = 0; i < dim_; ++i) weights_[i] += std::abs(form_[i]);
            join_cut(level);
        }
        box.key = std::max(box.key, nearest);
        if (box.key >= question_.limit) return;
        if (box.key >= question_.settled) {
            found.passed = std::min(found.passed, box.key);
            return;
        }
        if (is_leaf(net, box)) return add(found, box, true);
        const double kept = cut(box);
        if (kept <= 0.0) return;
        ++box.depth;
        if (kept < CUT_OFF) {
            stack.push_back(std::move(box));
            return;
        }
        const std::size_t axis = axis_of(box);
        const double middle = 0.5 * (box.lower[axis] + box.upper[axis]);
        if (!(box.lower[axis] < middle && middle < box.upper[axis])) return add(found, box, true);
        Box other = box;
        box.upper[axis] = other.lower[axis] = middle;
        // The half with the point in it, or nearer to it, comes first.
        if (point[axis] < middle) std::swap(box, other);
        stack.push_back(std::move(box));
        stack.push_back(std::move(other));
    }

    // Adds what is left of the steps where a form is not below a level, and steps are no longer than the limit.
    void join_cut(double level) {
        double most = 0.0, sizes = std::abs(level);
        for (std::size_t i = 0; i < dim_; ++i) {
            most += form_[i] > 0.0 ? form_[i] * steps_high_[i] : form_[i] * steps_low_[i];
            sizes += std::abs(form_[i]) * std::max(std::abs(steps_low_[i]), std::abs(steps_high_[i]));
        }
        const double spare = most - level + OUTWARDS * sizes;
        for (std::size_t i = 0; i < dim_; ++i) {
            double low = steps_low_[i], high = steps_high_[i];
            const double width = spare / std::abs(form_[i]);
            if (std::isfinite(width)) {
                const double rounding = OUTWARDS * (width + std::max(std::abs(low), std::abs(high)));
                if (form_[i] > 0.0) low = std::max(low, high - width - rounding);
                if (form_[i] < 0.0) high = std::min(high, low + width + rounding);
            }
            left_low_[i] = std::min(left_low_[i], low);
            left_high_[i] = std::max(left_high_[i], high);
        }
    }

    // Cuts a box down to what was joined and to steps no longer than the limit; returns which share is left.
    double cut(Box& box) {
        double share = 1.0;
        const double limit = question_.limit * (1 + OUTWARDS);
        for (std::size_t i = 0; i < dim_; ++i) {
            double rest = 0.0;
            for (std::size_t k = 0; k < dim_; ++k) {
                const double step = std::max({left_low_[k], -left_high_[k], 0.0}) * (1 - OUTWARDS);
                if (k != i) rest = question_.norm == Length::euclidean ? rest + step * step : rest + step;
            }
            double most = limit;
            if (question_.norm == Length::sum) most = std::max(limit - rest, 0.0);
            if (question_.norm == Length::euclidean) most = std::sqrt(std::max(limit * limit - rest, 0.0));
            most += OUTWARDS * limit;
            const double point = question_.point[i];
            const double outwards = 4 * ROUNDED * (std::abs(point) + largest_[i]);
            const double lower = std::max(box.lower[i], point + std::max(left_low_[i], -most) - outwards);
            const double upper = std::min(box.upper[i], point + std::min(left_high_[i], most) + outwards);
            if (lower > upper) return 0.0;
            const double side = box.upper[i] - box.lower[i];
            if (side > 0.0) share *= (upper - lower) / side;
            box.lower[i] = lower;
            box.upper[i] = upper;
        }
        return std::max(share, std::numeric_limits<double>::min());
    }

    bool is_leaf(const Net& net, const Box& box) const {
        bool is_near = true;
        for (std::size_t i = 0; i < dim_; ++i) is_near = is_near && box.upper[i] - box.lower[i] <= question_.near;
        const std::size_t most = is_near ? question_.codes_near : question_.codes;
        return net.num_units < 60 && (std::size_t{1} << net.num_units) <= most;
    }

    // The axis along which functions change most.
    std::size_t axis_of(const Box& box) const {
        double mean = 0.0, best = -1.0;
        std::size_t found = 0;
        for (const double weight : weights_) mean += weight / static_cast<double>(dim_);
        for (std::size_t i = 0; i < dim_; ++i) {
            const double score = (box.upper[i] - box.lower[i]) * (weights_[i] + mean + std::numeric_limits<double>::min());
            if (score > best) {
                best = score;
                found = i;
            }
        }
        return found;
    }

    void add(OpenBoxes& found, const Box& box, bool is_leaf) const {
        std::copy_n(box.lower.data(), dim_, found.lower.add());
        std::copy_n(box.upper.data(), dim_, found.upper.add());
        found.keys.push_back(box.key);
        found.is_leaf.push_back(is_leaf);
    }

    struct Closed {
        std::size_t width;
        double constant, error, size;
    };

    const DenseLayers& layers_;
    const NearQuestion& question_;
    std::size_t dim_, num_functions_;
    Table<double> absolute_;  // of the weights of functions, entries that sums are made of
    Vector<double> constant_errors_;
    Vector<Net> nets_;  // of the boxes on the way to where the search is
    Vector<std::size_t> place_;
    Vector<std::uint8_t> is_open_;
    Vector<Closed> closed_;
    Vector<double> slope_, start_, slopes_, largest_, steps_low_, steps_high_, form_, weights_, left_low_, left_high_, room_;
};

}  // namespace

OpenBoxes near_boxes(const DenseLayers& layers, Rows<const double> lower, Rows<const double> upper, View<double> keys,
                     Rows<const double> low, Rows<const double> high, const NearQuestion& question) {
    OpenBoxes found{Table<double>(0, lower.width()), Table<double>(0, lower.width()), {}, {}};
    Tree tree(layers, question);
    for (std::size_t box = 0; box < lower.size(); ++box)
        tree.search(lower[box], upper[box], keys[box], low[box], high[box], found);
    return found;
}

}  // namespace reluscope
