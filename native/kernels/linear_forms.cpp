#include "linear_forms.hpp"

namespace reluscope {
namespace {

// Columns whose sums stay in registers while rows are added.
constexpr std::size_t BLOCK = 8;

}  // namespace

void Frame::image(const double* y, double* z) const {
    if (is_identity()) {
        std::copy_n(y, num_columns(), z);
        return;
    }
    for (std::size_t k = 0; k < generators.size(); ++k) z[k] = dot(generators[k], y, num_columns());
}

void Frame::pull_back(const double* form, double* full) const {
    const std::size_t n = num_columns(), size = generators.size();
    if (is_identity()) {
        std::copy_n(form, n, full);
        return;
    }
    const double* all = generators[0];
    std::size_t j = 0;
    for (; j + BLOCK <= n; j += BLOCK) {
        double sum[BLOCK];
        for (std::size_t i = 0; i < BLOCK; ++i) sum[i] = form[0] * all[j + i];
        for (std::size_t k = 1; k < size; ++k) {
            if (form[k] == 0.0) continue;
            const double* row = all + k * n + j;
            for (std::size_t i = 0; i < BLOCK; ++i) sum[i] += form[k] * row[i];
        }
        std::copy_n(sum, BLOCK, full + j);
    }
    for (; j < n; ++j) {
        double sum = form[0] * all[j];
        for (std::size_t k = 1; k < size; ++k)
            if (form[k] != 0.0) sum += form[k] * all[k * n + j];
        full[j] = sum;
    }
}

double Frame::largest(const double* full) const {
    double total = 0.0;
    for (std::size_t j = 0; j < num_columns(); ++j) total += std::max(full[j] * lower[j], full[j] * upper[j]);
    return total;
}

}  // namespace reluscope
