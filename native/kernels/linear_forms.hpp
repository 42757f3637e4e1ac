// Linear forms on a box and on its image under a linear map: sums in one order on every processor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrays.hpp"

namespace reluscope {

// Two numbers at a time, as every processor has them; compilers that are left to find such pairs find worse ones.
#if defined(__GNUC__)
using Pair = double __attribute__((vector_size(16)));
#else
struct Pair {
    double entries[2];
    double operator[](int i) const { return entries[i]; }
    friend Pair operator+(Pair a, Pair b) { return {{a[0] + b[0], a[1] + b[1]}}; }
    friend Pair operator*(Pair a, Pair b) { return {{a[0] * b[0], a[1] * b[1]}}; }
};
#endif
inline Pair pair_at(const double* place) {
    Pair pair;
    std::memcpy(&pair, place, sizeof pair);
    return pair;
}
inline Pair product(const double* a, const double* b) { return pair_at(a) * pair_at(b); }

// In eights, whose sums are independent of each other: any width of vectors adds them in this order.
inline double dot(const double* a, const double* b, std::size_t number) {
    double total = 0.0;
    std::size_t i = 0;
    for (; i + 8 <= number; i += 8) {
        // Entries 0 + 4 and 1 + 5, then 2 + 6 and 3 + 7.
        const Pair even = product(a + i, b + i) + product(a + i + 4, b + i + 4);
        const Pair odd = product(a + i + 2, b + i + 2) + product(a + i + 6, b + i + 6);
        const Pair sum = even + odd;
        total += sum[0] + sum[1];
    }
    for (; i < number; ++i) total += a[i] * b[i];
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
    // Whether these belong together, as those of an archive need not.
    bool is_sound() const {
        return !lower.empty() && lower.size() == upper.size() && generators.width() == lower.size();
    }
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
