#include "active_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_set>

#include "tight_rows.hpp"
#include "vectors.hpp"

namespace reluscope {
namespace {

// Rows of length 1 closer than this to a combination of others depend on them.
constexpr double DEPENDENT = 1e-9;
// Smaller shares of a tight row in another are taken for rounding: the row does not leave for them.
constexpr double LEAST_PULL = 1e-12;
// No set of tight sides comes again while the vector grows. Where rounding is all that is left they do, one after another.
constexpr std::size_t MAX_REPEATS = 50;
constexpr std::size_t NOBODY = static_cast<std::size_t>(-1);

// A row, an upper bound or a lower bound, numbered in this order; an equation may be read with the other sign.
struct Side {
    std::size_t which = NOBODY;
    double sign = 1.0, excess = 0.0;
};
struct Tight {
    Side side;
    double weight;
};

class Search {
public:
    Search(const ShortestProblem& problem, double bound, double tolerance)
        : problem_(problem),
          bound_(bound),
          tolerance_(tolerance),
          dim_(problem.rows.width()),
          height_(problem.rows.size()),
          max_steps_(20 * (height_ + 2 * dim_) + 100),
          factors_(dim_),
          normal_(dim_) {
        found_.vector.assign(dim_, 0.0);
        found_.rows.assign(height_, 0.0);
        found_.upper.assign(dim_, 0.0);
        found_.lower.assign(dim_, 0.0);
    }

    ShortestVector run() {
        bool is_polished = false;
        while (num_steps_ < max_steps_) {
            Side side = next_equation();
            if (side.which == NOBODY) side = most_violated();
            if (side.which == NOBODY) {
                // The vector is computed once more from the tight rows, without the rounding of all steps.
                polish();
                if (is_polished) {
                    found_.ending = Ending::FOUND;
                    break;
                }
                is_polished = true;
                continue;
            }
            is_polished = false;
            if (!tighten(side)) return std::move(found_);
            num_repeats_ = seen_.insert(tight_set_).second ? 0 : num_repeats_ + 1;
            if (num_repeats_ > MAX_REPEATS) break;
            if (length(found_.vector) >= bound_) {
                found_.ending = Ending::BEYOND;
                break;
            }
        }
        for (const auto& one : tight_) put(one.side, one.weight);
        return std::move(found_);
    }

private:
    double length(const Vector<double>& vector) const { return std::sqrt(inner(vector.data(), vector.data(), dim_)); }

    // Equations come first and stay.
    Side next_equation() {
        while (num_read_ < problem_.num_equations) {
            const std::size_t which = num_read_++;
            const double* row = problem_.rows[which];
            const double off = inner(row, found_.vector.data(), dim_) - problem_.slack[which];
            if (std::abs(off) > tolerance_ || distance_to_span(row) > DEPENDENT)
                return {which, off >= 0 ? 1.0 : -1.0, std::abs(off)};
        }
        return {};
    }

    double distance_to_span(const double* normal) {
        if (factors_.size() == dim_) return 0.0;
        factors_.split(normal, parts_);
        return parts_.length;
    }

    // Of the sides that were violated when all were last asked, while one of them still is; else all are asked again.
    Side most_violated() {
        Side worst{NOBODY, 1.0, tolerance_};
        const auto ask = [&](std::size_t which) {
            const double over = excess(which);
            if (over > worst.excess) worst = {which, 1.0, over};
            return over > tolerance_;
        };
        std::erase_if(violated_, [&](std::size_t which) { return !ask(which); });
        if (worst.which != NOBODY) return worst;
        for (std::size_t i = problem_.num_equations; i < height_ + 2 * dim_; ++i)
            if (ask(i)) violated_.push_back(i);
        return worst;
    }

    // How far the vector is beyond a side.
    double excess(std::size_t which) const {
        if (which < height_)
            return inner(problem_.rows[which], found_.vector.data(), dim_) - problem_.slack[which];
        which -= height_;
        if (which < dim_) return found_.vector[which] - problem_.upper[which];
        return problem_.lower[which - dim_] - found_.vector[which - dim_];
    }

    // Make a side tight, and let go of those that begin to pull; false if they contradict each other.
    bool tighten(Side side) {
        write_normal(side);
        double weight = 0.0;
        while (true) {
            ++num_steps_;
            factors_.split(normal_.data(), parts_);
            pull_.assign(parts_.along.begin(), parts_.along.end());
            factors_.solve(pull_.data());
            const auto [dual_step, dropped] = first_to_leave();
            const double square = parts_.length * parts_.length;
            // Of so many rows others depend on them, whatever rounding left.
            const bool is_free = parts_.length > DEPENDENT && factors_.size() < dim_;
            const double full_step = is_free ? side.excess / square : INFINITE;
            const double step = std::min(dual_step, full_step);
            if (step == INFINITE) {
                // An equation may follow from the others.
                if (side.which < problem_.num_equations && side.excess <= tolerance_) return true;
                write_contradiction(side);
                return false;
            }
            for (std::size_t j = 0; j < tight_.size(); ++j) tight_[j].weight -= step * pull_[j];
            weight += step;
            if (full_step < INFINITE) {
                add_scaled(found_.vector.data(), -step, parts_.rest.data(), dim_);
                side.excess -= step * square;
            }
            if (step == full_step) {
                factors_.add(parts_);
                tight_.push_back({side, weight});
                tight_set_ ^= mixed(side.which);
                return true;
            }
            factors_.drop(dropped);
            tight_set_ ^= mixed(tight_[dropped].side.which);
            tight_.erase(tight_.begin() + static_cast<std::ptrdiff_t>(dropped));
            if (num_steps_ > max_steps_) return true;
        }
    }

    // All bits of a number, well spread (splitmix64): sets are told apart by the exclusive or of their numbers' bits.
    static std::uint64_t mixed(std::size_t which) {
        std::uint64_t bits = (static_cast<std::uint64_t>(which) + 1) * 0x9e3779b97f4a7c15U;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
        return bits ^ bits >> 31;
    }

    // The tight side whose weight vanishes first, and when.
    std::pair<double, std::size_t> first_to_leave() const {
        std::pair<double, std::size_t> first{INFINITE, NOBODY};
        for (std::size_t j = 0; j < tight_.size(); ++j)
            if (tight_[j].side.which >= problem_.num_equations && pull_[j] > LEAST_PULL &&
                tight_[j].weight / pull_[j] < first.first)
                first = {tight_[j].weight / pull_[j], j};
        return first;
    }

    // Outward.
    void write_normal(const Side& side) {
        if (side.which < height_) {
            for (std::size_t k = 0; k < dim_; ++k) normal_[k] = side.sign * problem_.rows[side.which][k];
            return;
        }
        std::fill(normal_.begin(), normal_.end(), 0.0);
        if (side.which < height_ + dim_)
            normal_[side.which - height_] = 1.0;
        else
            normal_[side.which - height_ - dim_] = -1.0;
    }

    void write_contradiction(const Side& side) {
        found_.ending = Ending::EMPTY;
        put(side, 1.0);
        for (std::size_t j = 0; j < tight_.size(); ++j) put(tight_[j].side, -pull_[j]);
    }

    void put(const Side& side, double weight) {
        if (side.which < height_)
            found_.rows[side.which] = side.sign * weight;
        else if (side.which < height_ + dim_)
            found_.upper[side.which - height_] = weight;
        else
            found_.lower[side.which - height_ - dim_] = weight;
    }

    double constant(const Side& side) const {
        if (side.which < height_) return side.sign * problem_.slack[side.which];
        if (side.which < height_ + dim_) return problem_.upper[side.which - height_];
        return -problem_.lower[side.which - height_ - dim_];
    }

    // Vector and multipliers from the tight rows: with the basis Q and the triangle R, R' w = s, u = Q w and
    // R weights = -w.
    void polish() {
        Vector<double> inside;
        for (const auto& one : tight_) inside.push_back(constant(one.side));
        factors_.solve_transposed(inside.data());
        factors_.combine(inside.data(), found_.vector.data());
        for (auto& value : inside) value = -value;
        factors_.solve(inside.data());
        for (std::size_t i = 0; i < tight_.size(); ++i) tight_[i].weight = inside[i];
    }

    ShortestProblem problem_;
    double bound_, tolerance_;
    std::size_t dim_, height_, max_steps_;
    // Steps that were made, and equations that were looked at.
    std::size_t num_steps_ = 0, num_read_ = 0;
    TightRows factors_;
    std::vector<Tight> tight_;
    // Which sides are tight, and which such sets there were.
    std::uint64_t tight_set_ = 0;
    std::unordered_set<std::uint64_t> seen_;
    std::size_t num_repeats_ = 0;
    // Sides that may be violated.
    std::vector<std::size_t> violated_;
    TightRows::Split parts_;
    Vector<double> normal_, pull_;
    ShortestVector found_;
};

}  // namespace

ShortestVector shortest_vector(const ShortestProblem& problem, double bound, double tolerance) {
    return Search(problem, bound, tolerance).run();
}

}  // namespace reluscope
