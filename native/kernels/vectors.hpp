// Inner products, and vectors that are added to others or turned.
#pragma once

#include <cstddef>

namespace reluscope {

double inner(const double* a, const double* b, std::size_t size);

// Add a multiple of one vector to another.
void add_scaled(double* target, double factor, const double* source, std::size_t size);

// Turn two vectors in their plane: the first becomes cosine one + sine two.
void rotate(double* one, double* two, double cosine, double sine, std::size_t size);

}  // namespace reluscope
