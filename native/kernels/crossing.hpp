// Whether a linear form takes positive values inside a cell: see reluscope.geometry.cutting.crossing.
#pragma once

#include "dual_simplex.hpp"

namespace reluscope {

// The same numbers as in reluscope.geometry.cutting.crossing.
enum class Verdict : int { none = 0, some = 1, undecided = 2 };

struct Answer {
    Verdict verdict;
    std::int64_t steps;
};

// A point of a frame: y, and its image z.
struct Place {
    const double *y, *z;
};

// A linear form and the cell that it is asked about.
struct Question {
    const Form& form;
    const Sides& sides;
    // Strictly inside the cell.
    Place witness;
    // Of the form among what is known of rows.
    std::size_t name = 0;
    double sign = 1.0;

    // The form in terms of y.
    KnownRow full(const Frame& frame) const { return sides.known.full(frame, name, form.coefficients, sign); }
};

// A point that is good enough to stop at lies beyond the zero set by this share of its way from the witness.
inline constexpr double GOOD_SHARE = 0.1;

// What questions write to, one after the other.
struct Workspace {
    explicit Workspace(Frame given);

    Frame frame;
    Dictionary dictionary;
    // The point that shows that a form is positive, or the multipliers that prove that it is not.
    Vector<double> out_y, out_z, multipliers;
    // Of the dictionary.
    Vector<double> y, z, margins;
    // A form that is added up, what it may be off by, and the form in terms of y.
    Vector<double> total, allowed, full;
};

// The dual simplex method. SOME: out_y is a point of the box, and of the cell up to rounding, where the form is above
// the threshold and twice its noise. NONE: the multipliers prove that the form is at most zero, see is_proof.
Answer find_positive(const Question& question, Workspace& work);

// A strictly interior point of the cell where the form is positive, on the way from the witness to a point of the cell,
// from a share of this way on; whether all rows and the form exceed their rounding there.
bool inner_point(const Question& question, const Frame& frame, const double* to_y, double least, double* y, double* z);

}  // namespace reluscope
