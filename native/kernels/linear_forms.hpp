// Linear forms on a box and on its image under a linear map: sums in one order on every processor.
#pragma once

#include <algorithm>
#include <cmath>

#include "arrays.hpp"

namespace reluscope {

// In eights, whose sums are independent of each other: any width of vectors adds them in this order.
inline double dot(const double* a, const double* b, std::size_t number) {
    double total = 0.0;
    const std::size_t whole = number - number % 8;
    for (std::size_t i = 0; i < whole; i += 8) {
        const double first = a[i] * b[i] + a[i + 4] * b[i + 4];
        const double second = a[i + 1] * b[i + 1] + a[i + 5] * b[i + 5];
        const double third = a[i + 2] * b[i + 2] + a[i + 6] * b[i + 6];
        const double fourth = a[i + 3] * b[i + 3] + a[i + 7] * b[i + 7];
        total += (first + third) + (second + fourth);
    }
    for (std::size_t i = whole; i < number; ++i) total += a[i] * b[i];
    return total;
}

inline void add_multiple(double* target, double factor, const double* source, std::size_t number) {
    for (std::size_t i = 0; i < number; ++i) target[i] += factor * source[i];
}

// The box and the map that all cells of one search share: z = G y.
struct Frame {
    // (k, n), none for the identity.
    Table<double> generators;
    Vector<double> lower, upper;
    // Whether the box is a mere scale.
    bool is_cone = false;
    // Of cones: a proof holds up to this share of the magnitudes that add up to it.
    double resolution = 0.0;

    std::size_t num_columns() const { return lower.size(); }
    std::size_t size() const { return is_identity() ? num_columns() : generators.size(); }
    bool is_identity() const { return generators.size() == 0; }

    void image(const double* y, double* z) const;
    // The coefficients of a form of z in terms of y.
    void pull_back(const double* form, double* full) const;
    // The largest value of a form of y over the box.
    double largest(const double* full) const;

    template <class Archive> void keep(Archive& archive) { archive(generators, lower, upper, is_cone, resolution); }
};

// A linear form of z, with bounds on its errors: anywhere in the box, and for each coordinate of y on cones.
struct Form {
    const double* coefficients;
    double noise;
    View<double> slack;
    // Values that count as zero.
    double threshold;
};

// The bound on the error of a form at a point.
inline double noise_at(double noise, View<double> slack, const double* y) {
    if (slack.empty()) return noise;
    double total = 0.0;
    for (std::size_t j = 0; j < slack.size(); ++j) total += slack[j] * std::abs(y[j]);
    return total;
}

}  // namespace reluscope
