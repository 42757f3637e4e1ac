#include "crossing_proofs.hpp"

namespace reluscope {
namespace {

// The length of the gradient of a form of y = (x, w) with respect to x.
double slope(const double* full, std::size_t n) {
    double largest = 0.0;
    for (std::size_t j = 0; j + 1 < n; ++j) largest = std::max(largest, std::abs(full[j]));
    if (largest == 0.0) return 0.0;
    double total = 0.0;
    for (std::size_t j = 0; j + 1 < n; ++j) {
        const double share = full[j] / largest;
        total += share * share;
    }
    return largest * std::sqrt(total);
}

bool is_proof_on_cone(const Question& question, Workspace& work) {
    const Frame& frame = work.frame;
    const Sides& sides = question.sides;
    const std::size_t n = frame.num_columns();
    double *total = work.total.data(), *allowed = work.allowed.data(), *full = work.full.data();
    std::copy_n(question.form.coefficients, frame.size(), total);
    std::copy_n(question.form.slack.data(), n, allowed);
    const double* own = question.full(frame).entries;
    double slopes = slope(own, n), constants = std::abs(own[n - 1]);
    for (std::size_t i = 0; i < sides.number(); ++i) {
        const double factor = work.multipliers[i] = work.dictionary.multiplier(i);
        if (factor == 0.0) continue;
        add_multiple(total, factor, sides.rows[i], frame.size());
        add_multiple(allowed, factor, sides.slack[i], n);
        const double* row = sides.full(frame, i).entries;
        slopes += factor * slope(row, n);
        constants += factor * std::abs(row[n - 1]);
    }
    frame.pull_back(total, full);
    // The last coordinate is never negative.
    const double left = full[n - 1] + allowed[n - 1];
    for (std::size_t j = 0; j + 1 < n; ++j) full[j] = std::abs(full[j]) + allowed[j];
    return left <= frame.resolution * constants && slope(full, n) <= frame.resolution * slopes;
}

// Linear forms of two coordinates, with bounds on their errors.
struct Ray {
    const double *row, *slack;
};

// The least that p_0 q_1 - p_1 q_0 can be, given bounds on the errors of all four and on rounding.
double least_determinant(const Ray& p, const Ray& q) {
    const double value = p.row[0] * q.row[1] - p.row[1] * q.row[0];
    double error = 0x1p-50 * (std::abs(p.row[0] * q.row[1]) + std::abs(p.row[1] * q.row[0]));
    error += std::abs(p.row[0]) * q.slack[1] + std::abs(p.row[1]) * q.slack[0] + std::abs(q.row[0]) * p.slack[1] +
             std::abs(q.row[1]) * p.slack[0];
    return value - (error + p.slack[0] * q.slack[1] + p.slack[1] * q.slack[0]);
}

}  // namespace

bool is_proof(const Question& question, double threshold, Workspace& work) {
    if (work.frame.is_cone) return is_proof_on_cone(question, work);
    const Sides& sides = question.sides;
    const std::size_t size = work.frame.size();
    double* total = work.total.data();
    double error = question.form.noise;
    std::copy_n(question.form.coefficients, size, total);
    for (std::size_t i = 0; i < sides.number(); ++i) {
        const double factor = work.multipliers[i] = work.dictionary.multiplier(i);
        if (factor == 0.0) continue;
        add_multiple(total, factor, sides.rows[i], size);
        error += factor * sides.noise[i];
    }
    work.frame.pull_back(total, work.full.data());
    const double value = work.frame.largest(work.full.data());
    return value + error <= 0.0 || (value <= error && error <= threshold);
}

// With two homogeneous coordinates, -f = a p + b q with two rows p and q (the last coordinate, which is never negative,
// is one as well) and a = |-f q| / |p q|, b = |p -f| / |p q|: three determinants of one sign prove it, and signs can be
// certain where the resolution is finer than the rounding of the slopes.
bool is_negative_on_line(const Question& question, Workspace& work) {
    static constexpr double LAST[] = {0.0, 1.0}, EXACT[] = {0.0, 0.0};
    const Sides& sides = question.sides;
    const Ray form{question.form.coefficients, question.form.slack.data()};
    const auto ray = [&](std::size_t i) {
        return i < sides.number() ? Ray{sides.rows[i], sides.slack[i]} : Ray{LAST, EXACT};
    };
    std::fill_n(work.multipliers.begin(), sides.number(), 0.0);
    for (std::size_t i = 0; i <= sides.number(); ++i)
        for (std::size_t j = 0; j <= sides.number(); ++j) {
            const Ray p = ray(i), q = ray(j);
            const double whole = least_determinant(p, q);
            if (whole <= 0.0) continue;
            const double first = least_determinant(q, form), second = least_determinant(form, p);
            if (!(first > 0.0 && second > 0.0)) continue;
            if (i < sides.number()) work.multipliers[i] = first / whole;
            if (j < sides.number()) work.multipliers[j] = second / whole;
            return true;
        }
    return false;
}

}  // namespace reluscope
