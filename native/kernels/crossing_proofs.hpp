// Whether multipliers prove that a linear form is at most zero on a cell, with bounds on all rounding.
#pragma once

#include "crossing.hpp"

namespace reluscope {

// Whether the multipliers of the present dictionary prove that the form is at most a threshold on the cell.
//
// On a cone they never do so but for rounding, since the form is zero at y = 0. There it is asked that what the
// multiplied rows leave of the form, e = f + sum l_i r_i, have a slope and a constant of at most a share s of all slopes
// and constants that are added up. Then no part of the cell where f is positive has a ball of radius
// r > 2 s |c| / (1 - s) around a point c. There f and the rows are at least r times their slopes, and a constant is at
// most the value at c and |c| times the slope; so r S <= e(c) <= s (2 |c| S + e(c)) with the sum S of slopes.
bool is_proof(const Question& question, double threshold, Workspace& work);

// Whether the form is at most zero on a cell of a line, whatever the rounding of form and rows.
bool is_negative_on_line(const Question& question, Workspace& work);

}  // namespace reluscope
