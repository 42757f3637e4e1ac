#include "tight_rows.hpp"

#include <algorithm>
#include <cmath>

#include "vectors.hpp"

namespace reluscope {

void TightRows::split(const double* normal, Split& parts) const {
    const std::size_t dim = basis_.width();
    auto& rest = parts.rest;
    rest.assign(normal, normal + dim);
    parts.along.assign(size(), 0.0);
    double before = parts.length = std::sqrt(inner(rest.data(), rest.data(), dim));
    Vector<double> part(size());
    for (int pass = 0; pass < 2 && size(); ++pass) {
        for (std::size_t i = 0; i < size(); ++i) part[i] = inner(basis_[i], rest.data(), dim);
        for (std::size_t i = 0; i < size(); ++i) add_scaled(rest.data(), -part[i], basis_[i], dim);
        for (std::size_t i = 0; i < size(); ++i) parts.along[i] += part[i];
        parts.length = std::sqrt(inner(rest.data(), rest.data(), dim));
        // Else once more: the first pass loses digits where little is left.
        if (parts.length > 0.7 * before) break;
        before = parts.length;
    }
}

void TightRows::add(const Split& parts) {
    const std::size_t number = size();
    double* row = basis_.add();
    for (std::size_t i = 0; i < basis_.width(); ++i) row[i] = parts.rest[i] / parts.length;
    double* column = triangle_.add();
    std::copy_n(parts.along.begin(), number, column);
    column[number] = parts.length;
}

void TightRows::drop(std::size_t which) {
    const std::size_t number = size();
    // Without the column there is one entry below the diagonal in each that follows: rotations of the basis remove it.
    for (std::size_t j = which; j + 1 < number; ++j) std::copy_n(triangle_[j + 1], j + 2, triangle_[j]);
    for (std::size_t i = which; i + 1 < number; ++i) {
        const double top = triangle_[i][i], bottom = triangle_[i][i + 1];
        const double length = std::sqrt(top * top + bottom * bottom);
        const double cosine = top / length, sine = bottom / length;
        for (std::size_t j = i; j + 1 < number; ++j) rotate(triangle_[j] + i, triangle_[j] + i + 1, cosine, sine, 1);
        rotate(basis_[i], basis_[i + 1], cosine, sine, basis_.width());
    }
    basis_.resize(number - 1);
    triangle_.resize(number - 1);
}

void TightRows::solve(double* right) const {
    for (std::size_t i = size(); i-- > 0;) {
        right[i] /= triangle_[i][i];
        add_scaled(right, -right[i], triangle_[i], i);
    }
}

void TightRows::solve_transposed(double* right) const {
    for (std::size_t i = 0; i < size(); ++i) right[i] = (right[i] - inner(triangle_[i], right, i)) / triangle_[i][i];
}

void TightRows::combine(const double* weights, double* vector) const {
    std::fill_n(vector, basis_.width(), 0.0);
    for (std::size_t i = 0; i < size(); ++i) add_scaled(vector, weights[i], basis_[i], basis_.width());
}

}  // namespace reluscope
