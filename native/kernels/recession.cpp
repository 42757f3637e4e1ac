#include "recession.hpp"

#include <algorithm>
#include <cmath>

#include "active_set.hpp"
#include "threads.hpp"
#include "tight_rows.hpp"
#include "vectors.hpp"

namespace reluscope {
namespace {

constexpr double EPSILON = std::numeric_limits<double>::epsilon();
// Rows of length 1 with errors beyond the first are not looked for in proofs; the second is close to a span.
constexpr double VAGUE = 0.25, DEPENDENT = 1e-9;
// Where searches are lost: heights that are to be 1 may be off by so much, at vectors of such lengths.
constexpr double OFF = 1e-3, LONGEST = 1e12;
// For the sums of numbers that are not negative in which a proof ends.
constexpr double UP = 1.0 + 1e-9;

// One cone after another.
class Cone {
public:
    explicit Cone(std::size_t dim) : dim_(dim), rows_(0, dim) {}

    // Decides, and returns whether there is no doubt.
    bool decide(const ConesView& cones, std::size_t which, bool& is_bounded) {
        is_bounded = dim_ == 0;
        if (dim_ == 0) return true;
        if (!read(cones, which)) return false;
        Table<double> outward(rows_.size(), dim_);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t k = 0; k < dim_; ++k) outward[i][k] = -rows_[i][k];
        auto found = search(outward, 0);
        if (found.ending != Ending::EMPTY) return !has_vague_ && rises_everywhere(found.vector);
        weights_ = std::move(found.rows);
        return combine(outward, is_bounded);
    }

private:
    // Rows of length 1, with bounds on their errors at vectors of entries from -1 to 1.
    bool read(const ConesView& cones, std::size_t which) {
        rows_.resize(0);
        errors_.clear();
        has_vague_ = false;
        for (auto i = cones.offsets[which]; i < cones.offsets[which + 1]; ++i) {
            const double *row = cones.rows[i], *error = cones.errors[i];
            double largest = 0.0, doubt = 0.0;
            for (std::size_t k = 0; k < dim_; ++k) {
                largest = std::max(largest, std::abs(row[k]));
                doubt += std::abs(error[k]);
            }
            if (!std::isfinite(largest) || !std::isfinite(doubt)) return false;
            if (largest == 0.0 && doubt == 0.0) continue;
            double square = 0.0;
            for (std::size_t k = 0; k < dim_ && largest > 0.0; ++k) square += (row[k] / largest) * (row[k] / largest);
            const double length = std::sqrt(square) * largest;
            // A length that underflows is no length.
            if (!(length > std::numeric_limits<double>::min()) || !(doubt / length < VAGUE)) {
                has_vague_ = true;
                continue;
            }
            double* unit = rows_.add();
            for (std::size_t k = 0; k < dim_; ++k) unit[k] = row[k] / length;
            errors_.push_back(UP * doubt / length + 8.0 * static_cast<double>(dim_) * EPSILON);
        }
        return true;
    }

    // The shortest vector on which the first rows are 0, and the others 1 at least.
    ShortestVector search(const Table<double>& outward, std::size_t num_equations) const {
        Vector<double> slack(outward.size(), -1.0), lower(dim_, -INFINITE), upper(dim_, INFINITE);
        std::fill_n(slack.begin(), num_equations, 0.0);
        Table<double> copy = outward;
        return shortest_vector({{copy.entries().data(), copy.size(), dim_}, slack, num_equations, lower, upper}, LONGEST,
                               OFF);
    }

    // Whether all rows are positive at a vector, whatever they are.
    bool rises_everywhere(const Vector<double>& vector) const {
        double largest = 0.0;
        for (const double entry : vector) largest = std::max(largest, std::abs(entry));
        if (rows_.size() && !(std::isfinite(largest) && largest > 0.0)) return false;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (!(inner(rows_[i], vector.data(), dim_) > UP * errors_[i] * largest)) return false;
        return true;
    }

    // Add to a combination of rows that is 0 others like it, until all its rows span everything.
    bool combine(const Table<double>& outward, bool& is_bounded) {
        while (true) {
            Vector<std::size_t> order, place;
            TightRows span(dim_);
            TightRows::Split parts;
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                if (!(weights_[i] > 0.0)) continue;
                order.push_back(i);
                if (span.size() == dim_) continue;
                span.split(rows_[i], parts);
                if (parts.length > DEPENDENT) span.add(parts);
            }
            const std::size_t num_equations = order.size();
            if (span.size() == dim_) {
                is_bounded = true;
                return spans(order);
            }
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                if (weights_[i] > 0.0) continue;
                span.split(rows_[i], parts);
                if (parts.length > DEPENDENT) order.push_back(i);
            }
            if (num_equations == 0 || order.size() == num_equations) return false;
            Table<double> chosen(order.size(), dim_);
            for (std::size_t j = 0; j < order.size(); ++j) std::copy_n(outward[order[j]], dim_, chosen[j]);
            const auto found = search(chosen, num_equations);
            if (found.ending != Ending::EMPTY) return false;
            // So much of the last combination that no weight gets negative.
            double share = 0.0, largest = 0.0;
            for (std::size_t j = 0; j < order.size(); ++j) {
                largest = std::max(largest, std::abs(found.rows[j]));
                if (j < num_equations) share = std::max(share, -found.rows[j] / weights_[order[j]]);
            }
            for (std::size_t j = 0; j < num_equations; ++j) share = std::max(share, largest / weights_[order[j]]);
            bool is_more = false;
            for (std::size_t j = 0; j < order.size(); ++j) {
                const bool is_new = j >= num_equations && found.rows[j] > 0.0;
                weights_[order[j]] = (j < num_equations ? 2.0 * share * weights_[order[j]] : 0.0) + found.rows[j];
                is_more |= is_new;
                if (!(weights_[order[j]] > 0.0)) weights_[order[j]] = 0.0;
            }
            if (!is_more) return false;
        }
    }

    // Whether rows with positive weights that nearly cancel prove that nothing but 0 is in the cone, whatever they are.
    //
    // Of an r of the cone with largest entry 1 the weighted heights add up to less than what is left of the sum, and no
    // height is negative: each is small, and the inverse of some rows makes r small, which it is not.
    bool spans(const Vector<std::size_t>& used) const {
        double rest = 0.0;
        const double gamma = static_cast<double>(used.size() + dim_ + 4) * EPSILON;
        for (std::size_t k = 0; k < dim_; ++k) {
            double sum = 0.0, size = 0.0;
            for (const auto i : used) {
                sum += weights_[i] * rows_[i][k];
                size += weights_[i] * std::abs(rows_[i][k]);
            }
            rest += std::abs(sum) + gamma * size;
        }
        for (const auto i : used) rest += weights_[i] * errors_[i];
        Table<double> square(dim_, dim_);
        Vector<double> heights;
        choose(used, square, heights, rest);
        if (heights.size() < dim_) return false;
        Table<double> inverse = square;
        if (!invert(inverse)) return false;
        double longest = 0.0, off = 0.0;
        for (std::size_t k = 0; k < dim_; ++k) {
            double reach = 0.0, row_off = 0.0;
            for (std::size_t j = 0; j < dim_; ++j) {
                double sum = 0.0, size = 0.0;
                for (std::size_t i = 0; i < dim_; ++i) {
                    sum += inverse[k][i] * square[i][j];
                    size += std::abs(inverse[k][i] * square[i][j]);
                }
                row_off += std::abs(sum - (k == j)) + gamma * (size + 1.0);
                reach += std::abs(inverse[k][j]) * heights[j];
            }
            longest = std::max(longest, reach);
            off = std::max(off, row_off);
        }
        return UP * (longest + off) < 1.0;
    }

    // As many rows that are far from dependent, and bounds on their heights.
    void choose(const Vector<std::size_t>& used, Table<double>& square, Vector<double>& heights, double rest) const {
        Table<double> left(used.size(), dim_);
        for (std::size_t j = 0; j < used.size(); ++j) std::copy_n(rows_[used[j]], dim_, left[j]);
        while (heights.size() < dim_) {
            double best = 0.0;
            std::size_t pivot = 0;
            for (std::size_t j = 0; j < used.size(); ++j) {
                const double length = inner(left[j], left[j], dim_);
                // Rows of small weight say little.
                const double worth = length / (rest / weights_[used[j]] + errors_[used[j]] + EPSILON);
                if (length > DEPENDENT * DEPENDENT && worth > best) {
                    best = worth;
                    pivot = j;
                }
            }
            if (!(best > 0.0)) return;
            std::copy_n(rows_[used[pivot]], dim_, square[heights.size()]);
            heights.push_back(UP * (rest / weights_[used[pivot]]) + errors_[used[pivot]]);
            Vector<double> unit(left[pivot], left[pivot] + dim_);
            const double length = std::sqrt(inner(unit.data(), unit.data(), dim_));
            for (auto& entry : unit) entry /= length;
            for (std::size_t j = 0; j < used.size(); ++j)
                add_scaled(left[j], -inner(left[j], unit.data(), dim_), unit.data(), dim_);
        }
    }

    // In place, by Gauss and Jordan; what comes out is checked.
    bool invert(Table<double>& matrix) const {
        Vector<std::size_t> swaps(dim_);
        for (std::size_t step = 0; step < dim_; ++step) {
            std::size_t pivot = step;
            for (std::size_t i = step + 1; i < dim_; ++i)
                if (std::abs(matrix[i][step]) > std::abs(matrix[pivot][step])) pivot = i;
            if (matrix[pivot][step] == 0.0) return false;
            swaps[step] = pivot;
            std::swap_ranges(matrix[step], matrix[step] + dim_, matrix[pivot]);
            const double lead = matrix[step][step];
            matrix[step][step] = 1.0;
            for (std::size_t k = 0; k < dim_; ++k) matrix[step][k] /= lead;
            for (std::size_t i = 0; i < dim_; ++i) {
                if (i == step) continue;
                const double factor = matrix[i][step];
                matrix[i][step] = 0.0;
                add_scaled(matrix[i], -factor, matrix[step], dim_);
            }
        }
        for (std::size_t step = dim_; step-- > 0;)
            for (std::size_t i = 0; i < dim_; ++i) std::swap(matrix[i][step], matrix[i][swaps[step]]);
        return true;
    }

    std::size_t dim_;
    Table<double> rows_;
    Vector<double> errors_, weights_;
    // Whether there are rows too uncertain for a proof.
    bool has_vague_ = false;
};

}  // namespace

Recession recession(const ConesView& cones, std::size_t num_threads) {
    Recession found{Vector<std::uint8_t>(cones.size(), 0), Vector<std::uint8_t>(cones.size(), 0)};
    std::vector<Cone> memory(num_threads, Cone(cones.rows.width()));
    share_out(cones.size(), num_threads, [&](std::size_t thread, std::size_t which) {
        bool is_bounded = false;
        found.is_proved[which] = memory[thread].decide(cones, which, is_bounded);
        found.is_bounded[which] = is_bounded;
        return true;
    });
    return found;
}

}  // namespace reluscope
