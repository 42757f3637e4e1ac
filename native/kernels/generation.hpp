// Whether a linear form takes positive values inside a cell, by corners of the box: see reluscope.geometry.cutting.generation.
#pragma once

#include "crossing.hpp"

namespace reluscope {

// Corners that questions have met.
class Corners {
public:
    // Room for so many.
    Corners(const Frame& frame, std::size_t capacity);

    std::size_t number() const { return known_; }
    std::size_t capacity() const { return y_.size(); }
    const double* y(std::size_t slot) const { return y_[slot]; }
    // The values of a row at all corners.
    KnownRow heights(KnownRows& known, std::size_t name, const double* row, double sign) const {
        return known.heights(z_, numbers_, last_, name, row, sign);
    }

    // The next slot that is free, or in turn one that is not used; NONE if all are.
    template <class IsUsed> std::int64_t slot(const IsUsed& is_used) {
        if (known_ < capacity() && met_ < capacity()) return static_cast<std::int64_t>(met_++);
        for (std::size_t tried = 0; tried < capacity(); ++tried) {
            const std::size_t slot = met_++ % capacity();
            if (!is_used(slot)) return static_cast<std::int64_t>(slot);
        }
        return NONE;
    }
    // Another column of the program of a question.
    void add() { ++known_; }
    // Put the corner there at which a form of y is largest.
    void put(std::size_t slot, const Frame& frame, const double* full);

    template <class Archive> void keep(Archive& archive) { archive(known_, met_, y_, z_); }
    // Whether corners that were read are those of a frame.
    bool are_of(const Frame& frame) const {
        return y_.width() == frame.num_columns() && z_.width() == frame.size() && z_.size() == capacity() &&
               known_ == std::min(met_, capacity());
    }
    // Give numbers of their own to corners that were read.
    void number_anew();

private:
    std::size_t known_ = 0, met_ = 0;
    Table<double> y_, z_;
    // Of the corner in each slot, different from those of all corners before, and of those elsewhere.
    Vector<std::uint64_t> numbers_;
    // The last of them.
    std::uint64_t last_ = 0;
};

// The program of one question: the convex combinations of the witness and of corners.
class CornerProgram {
public:
    void begin(const Question& question, std::size_t size, const Corners& corners);
    // The primal simplex method on the columns at hand; the objective.
    double improve();
    // Let a corner join, or come again at its slot.
    void join(const Question& question, Corners& corners, std::size_t slot);
    bool uses(std::size_t slot) const;

    // Whether the column is the slack of a row, which one, and its multiplier.
    std::int64_t column(std::size_t c) const { return column_variables_[c]; }
    double price(std::size_t c) const { return table_[rows_ + 1][c]; }
    // What is in the program, by row: its variable and value.
    std::int64_t variable(std::size_t r) const { return row_variables_[r]; }
    double value(std::size_t r) const { return level_[r]; }
    // The variable of the first corner's weight. Those before are slacks of rows, and the witness's weight.
    std::int64_t first_corner() const { return static_cast<std::int64_t>(rows_) + 1; }

private:
    KnownRow heights_of(const Question& question, const Corners& corners, std::size_t i) const;
    double change(const Question& question, const Corners& corners, std::size_t i, std::size_t slot) const;
    std::int64_t entering() const;
    std::int64_t leaving(std::size_t entering, double& ratio);
    void exchange(std::size_t leaving, std::size_t entering, double ratio);

    std::size_t rows_ = 0, columns_ = 0;
    // Rows, the sum of weights, and last the objective.
    Table<double> table_;
    Vector<double> level_;
    Vector<std::int64_t> row_variables_, column_variables_;
    // Values of the rows, and of the form, at the witness.
    Vector<double> start_;
    // How far each row lets a column enter, and its entry, 0 if it is none.
    Vector<double> steps_, sizes_;
};

// Answers as find_positive does, and UNDECIDED as soon as corners do not lead further; a step is a new corner.
Answer find_among_corners(const Question& question, Workspace& work, Corners& corners, CornerProgram& program);

}  // namespace reluscope
