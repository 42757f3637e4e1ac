// Rows that are tight, as an orthonormal basis times a triangle, to which rows come and from which they go.
#pragma once

#include "arrays.hpp"

namespace reluscope {

class TightRows {
public:
    explicit TightRows(std::size_t dim) : basis_(0, dim), triangle_(0, dim) {}

    std::size_t size() const { return basis_.size(); }

    // A row in terms of the basis, and what is left of it.
    struct Split {
        Vector<double> along, rest;
        double length = 0.0;
    };
    void split(const double* normal, Split& parts) const;
    // The row that was split becomes the last one.
    void add(const Split& parts);
    void drop(std::size_t which);

    // x with triangle x = right, and with triangle' x = right, in place.
    void solve(double* right) const;
    void solve_transposed(double* right) const;
    // The basis times weights.
    void combine(const double* weights, double* vector) const;

private:
    // The basis by rows, the triangle by columns.
    Table<double> basis_, triangle_;
};

}  // namespace reluscope
