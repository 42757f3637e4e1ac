#include "linear_forms.hpp"

namespace reluscope {
namespace {

Pair both(double value) { return Pair{value, value}; }
void put(double* place, Pair pair) { std::memcpy(place, &pair, sizeof pair); }

// Entries j to j + 7 of a form in terms of y.
void eight_entries(const Table<double>& generators, const double* form, std::size_t j, double* full) {
    const std::size_t n = generators.width();
    const double* row = generators[0] + j;
    Pair factor = both(form[0]);
    Pair first = pair_at(row) * factor, second = pair_at(row + 2) * factor;
    Pair third = pair_at(row + 4) * factor, fourth = pair_at(row + 6) * factor;
    for (std::size_t k = 1; k < generators.size(); ++k) {
        row += n;
        if (form[k] == 0.0) continue;
        factor = both(form[k]);
        first = first + pair_at(row) * factor;
        second = second + pair_at(row + 2) * factor;
        third = third + pair_at(row + 4) * factor;
        fourth = fourth + pair_at(row + 6) * factor;
    }
    put(full + j, first);
    put(full + j + 2, second);
    put(full + j + 4, third);
    put(full + j + 6, fourth);
}

}  // namespace

void Frame::image(const double* y, double* z) const {
    if (is_identity()) std::copy_n(y, num_columns(), z);
    for (std::size_t k = 0; k < generators.size(); ++k) z[k] = dot(generators[k], y, num_columns());
}

void Frame::pull_back(const double* form, double* full) const {
    const std::size_t n = num_columns(), size = generators.size();
    if (is_identity()) {
        std::copy_n(form, n, full);
        return;
    }
    std::size_t j = 0;
    for (; j + 8 <= n; j += 8) eight_entries(generators, form, j, full);
    for (; j < n; ++j) {
        double sum = form[0] * generators[0][j];
        for (std::size_t k = 1; k < size; ++k)
            if (form[k] != 0.0) sum += form[k] * generators[k][j];
        full[j] = sum;
    }
}

double Frame::largest(const double* full) const {
    double total = 0.0;
    for (std::size_t j = 0; j < num_columns(); ++j) total += std::max(full[j] * lower[j], full[j] * upper[j]);
    return total;
}

}  // namespace reluscope
