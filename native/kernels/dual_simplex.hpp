// A dual simplex method for few rows and many bounded columns: its dictionary, and its steps.
//
// Rows join the dictionary when they are violated. Steps pass over bounds of columns as long as the dual objective falls
// (the bound flipping ratio test).
#pragma once

#include "cell_rows.hpp"

namespace reluscope {

// Variables below n are columns, the others slacks of rows.
using Variable = std::int64_t;

struct Entering {
    std::int64_t position = NONE;
    // Length of the dual step.
    double step = 0.0;
};

// What leaves the basis: a column by its place there, or a row as n plus its number. It goes up to its limit, or down.
struct Leaving {
    Variable which = NONE;
    double side = 1.0, limit = 0.0;
};

// Columns that rows have bound, in terms of those at their bounds.
class Dictionary {
public:
    // Start without rows, with every column at the bound that the objective asks for.
    void begin(const Frame& frame, KnownRow objective, std::size_t num_rows, double perturbation);

    // Put columns where the dictionary says that they are.
    void place(double* y) const;
    // An upper bound on the objective.
    double bound() const { return dot(reduced_.data(), values_.data(), columns_); }

    std::size_t rank() const { return rank_; }
    bool is_full() const { return rank_ >= table_.size(); }
    Variable basic(std::size_t place) const { return basis_[place]; }
    double length(std::size_t place) const { return dot(table_[place], table_[place], columns_); }
    bool is_bound(std::size_t row) const { return position_[row] != NONE; }
    // The multiplier of a row, 0 where it has none.
    double multiplier(std::size_t row) const {
        return position_[row] == NONE ? 0.0 : std::max(0.0, -reduced_[position_[row]]);
    }

    // Exchange what leaves for what enters; whether something can.
    bool step(const Leaving& leaving, const Sides& sides);
    // Go back to the costs of the objective itself.
    void restore();

private:
    // A position that may enter: when its cost changes its sign, and how much of the deficit it makes up for.
    struct Candidate {
        double ratio, swing;
        std::int64_t position;
    };

    void express(std::size_t row, const Sides& sides);
    Entering ratio_test(double side, double deficit);
    std::size_t collect(double side);
    void pivot(const Leaving& leaving, const Entering& entering);
    void put(std::size_t position, Variable variable, double value);
    void follow_prices();

    const Frame* frame_ = nullptr;
    std::size_t columns_ = 0, rank_ = 0;
    // By place in the basis: rows of the dictionary, and columns.
    Table<double> table_;
    Vector<Variable> basis_;
    // By position outside the basis: what is there, its value and bounds, its cost, and that without perturbation.
    Vector<Variable> variables_;
    Vector<double> values_, lower_, upper_, reduced_, exact_;
    // Positions that are, or were, of other variables than their own.
    Vector<std::int64_t> moved_;
    // By row: the position of its slack.
    Vector<std::int64_t> position_;
    // Of what leaves, by position.
    Vector<double> entries_;
    Vector<Candidate> candidates_;
};

}  // namespace reluscope
