// Whether multipliers prove that a linear form is at most zero on a cell, with bounds on all rounding.
#pragma once

#include "crossing.hpp"

namespace reluscope {

// Whether the multipliers of the present dictionary prove that the form is at most a threshold on the cell. On a cone
// they never do so but for rounding, since the form is zero at y = 0. There it is asked that what the multiplied rows
// leave of the form have a slope and a constant of at most a share of all those that are added up: what this says of
// the cell is derived in reluscope.geometry.crossing_proofs.
bool is_proof(const Question& question, double threshold, Workspace& work);

// Whether the form is at most zero on a cell of a line, whatever the rounding of form and rows.
bool is_negative_on_line(const Question& question, Workspace& work);

}  // namespace reluscope
