#include "dual_simplex.hpp"

namespace reluscope {
namespace {

// Entries of a row below this share of its largest one are no pivots.
constexpr double SMALLEST_PIVOT = 1e-10;

// Move costs away from zero and from each other, so that few steps have length zero.
void perturb(Vector<double>& costs, double share) {
    std::uint64_t state = 88172645463325252u;
    for (double& cost : costs) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        cost *= 1.0 + share * (0.5 + static_cast<double>(state >> 40) / 0x1p25);
    }
}

// The largest of four in turn: each waits for the one before.
double largest_entry(const Vector<double>& entries) {
    double largest[4] = {};
    std::size_t j = 0;
    for (; j + 4 <= entries.size(); j += 4)
        for (std::size_t i = 0; i < 4; ++i) largest[i] = std::max(largest[i], std::abs(entries[j + i]));
    for (; j < entries.size(); ++j) largest[0] = std::max(largest[0], std::abs(entries[j]));
    return std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
}

}  // namespace

void Dictionary::begin(const Frame& frame, KnownRow objective, std::size_t num_rows, double perturbation) {
    const std::size_t n = frame.num_columns(), ranks = std::min(frame.size(), num_rows) + 2;
    frame_ = &frame;
    columns_ = n;
    rank_ = 0;
    if (table_.width() != n || table_.size() != ranks) table_ = Table<double>(ranks, n);
    basis_.resize(ranks);
    exact_.resize(n);
    for (std::size_t j = 0; j < n; ++j) exact_[j] = objective.sign * objective.entries[j];
    reduced_ = exact_;
    perturb(reduced_, perturbation);
    lower_.assign(frame.lower.begin(), frame.lower.end());
    upper_.assign(frame.upper.begin(), frame.upper.end());
    variables_.resize(n);
    values_.resize(n);
    for (std::size_t j = 0; j < n; ++j) {
        variables_[j] = static_cast<Variable>(j);
        const double low = lower_[j], high = upper_[j];
        values_[j] = reduced_[j] > 0.0 ? high : low;
    }
    moved_.clear();
    position_.assign(num_rows, NONE);
    entries_.resize(n);
    // One more, to be written and not kept.
    candidates_.resize(n + 1);
}

void Dictionary::place(double* y) const {
    const auto number = static_cast<Variable>(columns_);
    std::copy(values_.begin(), values_.end(), y);
    for (const auto position : moved_)
        if (variables_[position] < number) y[variables_[position]] = values_[position];
    for (std::size_t b = 0; b < rank_; ++b) y[basis_[b]] = dot(table_[b], values_.data(), columns_);
}

bool Dictionary::step(const Leaving& leaving, const Sides& sides) {
    const auto number = static_cast<Variable>(columns_);
    if (leaving.which < number)
        std::copy_n(table_[leaving.which], columns_, entries_.data());
    else
        express(leaving.which - columns_, sides);
    const double value = dot(entries_.data(), values_.data(), columns_);
    const Entering entering = ratio_test(leaving.side, leaving.side * (leaving.limit - value));
    if (entering.position == NONE) return false;
    pivot(leaving, entering);
    return true;
}

// Write a row in terms of the columns outside the basis.
void Dictionary::express(std::size_t row, const Sides& sides) {
    const auto number = static_cast<Variable>(columns_);
    const auto [full, sign] = sides.full(*frame_, row);
    for (std::size_t j = 0; j < columns_; ++j) entries_[j] = sign * full[j];
    for (const auto position : moved_) {
        const auto variable = variables_[position];
        entries_[position] = variable < number ? sign * full[variable] : 0.0;
    }
    for (std::size_t b = 0; b < rank_; ++b) add_multiple(entries_.data(), sign * full[basis_[b]], table_[b], columns_);
}

// The positions whose costs change their signs on the way, and when they do.
std::size_t Dictionary::collect(double side) {
    const double least = SMALLEST_PIVOT * largest_entry(entries_);
    std::size_t count = 0;
    // Every position is written down, and kept or not, without a branch: whether it is kept is as good as random.
    for (std::size_t j = 0; j < columns_; ++j) {
        const double entry = side * entries_[j];
        candidates_[count].position = static_cast<std::int64_t>(j);
        count += !(std::abs(entry) <= least) & (lower_[j] != upper_[j]) & ((values_[j] == upper_[j]) != (entry > 0.0));
    }
    for (std::size_t i = 0; i < count; ++i) {
        Candidate& candidate = candidates_[i];
        const auto j = candidate.position;
        candidate.ratio = std::max(0.0, -reduced_[j] / (side * entries_[j]));
        candidate.swing = std::abs(entries_[j]) * (upper_[j] - lower_[j]);
    }
    return count;
}

// Passing the breakpoint of a column swaps its bound, which makes up for its swing in the deficit. The first breakpoint
// at which nothing is left of it is found by partition, as quicksort does.
Entering Dictionary::ratio_test(double side, double deficit) {
    Candidate* all = candidates_.data();
    std::size_t first = 0, last = collect(side);
    while (last > first) {
        const double middle = all[(first + last) / 2].ratio;
        // Three ways: below the pivot, equal to it, above.
        std::size_t i = first, below = first, above = last;
        double gain = 0.0, level = 0.0;
        while (i < above) {
            const Candidate here = all[i];
            if (here.ratio < middle) {
                gain += here.swing;
                std::swap(all[i++], all[below++]);
            } else if (here.ratio > middle) {
                std::swap(all[i], all[--above]);
            } else {
                level += here.swing;
                ++i;
            }
        }
        if (gain >= deficit) {
            last = below;
        } else if (gain + level >= deficit) {
            std::size_t best = below;
            for (i = below; i < above; ++i)
                if (std::abs(entries_[all[i].position]) > std::abs(entries_[all[best].position])) best = i;
            return {all[best].position, middle};
        } else {
            deficit -= gain + level;
            first = above;
        }
    }
    return {};
}

void Dictionary::pivot(const Leaving& leaving, const Entering& entering) {
    const auto number = static_cast<Variable>(columns_);
    const std::size_t enters = entering.position;
    const bool is_row = leaving.which >= number;
    const double* entries = entries_.data();
    add_multiple(reduced_.data(), entering.step * leaving.side, entries, columns_);
    const double inverse = 1.0 / entries[enters];
    const double price = exact_[enters] * inverse;
    add_multiple(exact_.data(), -price, entries, columns_);
    exact_[enters] = price;
    for (std::size_t b = 0; b < rank_; ++b) {
        if (static_cast<Variable>(b) == leaving.which) continue;
        const double factor = table_[b][enters] * inverse;
        if (factor != 0.0) add_multiple(table_[b], -factor, entries, columns_);
        table_[b][enters] = factor;
    }
    const Variable comes = variables_[enters];
    const std::size_t row = leaving.which - columns_;
    if (is_row) {
        position_[row] = entering.position;
        put(enters, leaving.which, 0.0);
    } else {
        put(enters, basis_[leaving.which], leaving.limit);
    }
    reduced_[enters] = -entering.step * leaving.side;
    if (comes < number) {
        const std::size_t place = is_row ? rank_++ : leaving.which;
        basis_[place] = comes;
        double* made = table_[place];
        for (std::size_t j = 0; j < columns_; ++j) made[j] = -entries[j] * inverse;
        made[enters] = inverse;
    } else {
        position_[comes - number] = NONE;
        if (!is_row) {
            --rank_;
            basis_[leaving.which] = basis_[rank_];
            if (leaving.which != static_cast<Variable>(rank_))
                std::copy_n(table_[rank_], columns_, table_[leaving.which]);
        }
    }
    follow_prices();
}

void Dictionary::put(std::size_t position, Variable variable, double value) {
    const bool is_column = variable < static_cast<Variable>(columns_);
    if (variables_[position] == static_cast<Variable>(position)) moved_.push_back(static_cast<std::int64_t>(position));
    variables_[position] = variable;
    values_[position] = value;
    lower_[position] = is_column ? frame_->lower[variable] : 0.0;
    upper_[position] = is_column ? frame_->upper[variable] : INFINITE;
}

// Put every column at the bound that its cost asks for. Slacks are never below their bound, zero.
void Dictionary::follow_prices() {
    const auto number = static_cast<Variable>(columns_);
    for (const auto position : moved_)
        if (variables_[position] >= number) reduced_[position] = std::min(reduced_[position], 0.0);
    const double *costs = reduced_.data(), *lower = lower_.data(), *upper = upper_.data();
    double* values = values_.data();
    for (std::size_t j = 0; j < columns_; ++j) {
        const double low = lower[j], high = upper[j], value = costs[j] < 0.0 ? low : values[j];
        values[j] = costs[j] > 0.0 ? high : value;
    }
}

void Dictionary::restore() {
    std::copy(exact_.begin(), exact_.end(), reduced_.begin());
    follow_prices();
}

}  // namespace reluscope
