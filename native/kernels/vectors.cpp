#include "vectors.hpp"

#include "wide.hpp"

namespace reluscope {

WIDE double inner(const double* a, const double* b, std::size_t size) {
    constexpr std::size_t LANES = 16;
    const std::size_t whole = size - size % LANES;
    double rest = 0.0;
    for (std::size_t i = whole; i < size; ++i) rest += a[i] * b[i];
    if (whole == 0) return rest;
    double sums[LANES];
    for (std::size_t k = 0; k < LANES; ++k) sums[k] = a[k] * b[k];
    for (std::size_t i = LANES; i < whole; i += LANES)
        for (std::size_t k = 0; k < LANES; ++k) sums[k] += a[i + k] * b[i + k];
    for (std::size_t k = 0; k < 8; ++k) sums[k] += sums[k + 8];
    for (std::size_t k = 0; k < 4; ++k) sums[k] += sums[k + 4];
    return ((sums[0] + sums[2]) + (sums[1] + sums[3])) + rest;
}

WIDE void add_scaled(double* __restrict target, double factor, const double* __restrict source, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) target[i] += factor * source[i];
}

WIDE void rotate(double* __restrict one, double* __restrict two, double cosine, double sine, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        const double turned = cosine * one[i] + sine * two[i];
        two[i] = cosine * two[i] - sine * one[i];
        one[i] = turned;
    }
}

}  // namespace reluscope
