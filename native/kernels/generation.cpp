#include "generation.hpp"

#include <atomic>

namespace reluscope {
namespace {

// After this many new corners for one question an exact method is called.
constexpr std::int64_t MAX_CORNERS = 40;
// Entries of the table up to here are rounding.
constexpr double ROUNDING = 1e-11;
// Bounds closer than this to what is reached, relative to their size, are reached.
constexpr double RELATIVE = 1e-9;

std::atomic<std::uint64_t> next_number = 1;

// An upper bound on the form, and the error of the sum that shows it.
struct Bound {
    double value, error;
};

Bound bound_of(const Question& question, Workspace& work, const Corners& corners, const CornerProgram& program) {
    const Sides& sides = question.sides;
    const std::size_t size = work.frame.size();
    double error = question.form.noise;
    std::copy_n(question.form.coefficients, size, work.total.data());
    std::fill_n(work.multipliers.begin(), sides.number(), 0.0);
    for (std::size_t c = 0; c < corners.number(); ++c) {
        const auto i = program.column(c);
        const double factor = -program.price(c);
        if (i >= static_cast<std::int64_t>(sides.number()) || !(factor > 0.0)) continue;
        work.multipliers[i] = factor;
        add_multiple(work.total.data(), factor, sides.rows[i], size);
        error += factor * sides.noise[i];
    }
    work.frame.pull_back(work.total.data(), work.full.data());
    return {work.frame.largest(work.full.data()), error};
}

// Write the point that the weights describe.
void combine(const Question& question, Workspace& work, const Corners& corners, const CornerProgram& program) {
    const std::size_t n = work.frame.num_columns();
    double *y = work.out_y.data(), total = 0.0;
    std::fill_n(y, n, 0.0);
    for (std::size_t r = 0; r <= question.sides.number(); ++r) {
        const auto corner = program.variable(r) - program.first_corner();
        const double weight = program.value(r);
        if (corner < 0 || !(weight > 0.0)) continue;
        add_multiple(y, weight, corners.y(corner), n);
        total += weight;
    }
    add_multiple(y, 1.0 - total, question.witness.y, n);
    for (std::size_t j = 0; j < n; ++j) y[j] = std::min(std::max(y[j], work.frame.lower[j]), work.frame.upper[j]);
    work.frame.image(y, work.out_z.data());
}

bool is_inside(const Sides& sides, std::size_t size, const double* z) {
    double worst = 0.0;
    for (std::size_t i = 0; i < sides.number(); ++i)
        worst = std::min(worst, dot(sides.rows[i], z, size) + 2.0 * sides.noise[i]);
    return worst >= 0.0;
}

}  // namespace

Corners::Corners(const Frame& frame, std::size_t capacity)
    : y_(capacity, frame.num_columns(), 0.0), z_(capacity, frame.size(), 0.0), numbers_(capacity, 0) {}

void Corners::number_anew() {
    numbers_.resize(capacity());
    for (auto& number : numbers_) number = last_ = next_number++;
}

void Corners::put(std::size_t slot, const Frame& frame, const double* full) {
    double* y = y_[slot];
    for (std::size_t j = 0; j < frame.num_columns(); ++j) {
        const double low = frame.lower[j], high = frame.upper[j];
        y[j] = full[j] > 0.0 ? high : low;
    }
    frame.image(y, z_[slot]);
    numbers_[slot] = last_ = next_number++;
}

// The dictionary in which the witness has all the weight.
void CornerProgram::begin(const Question& question, std::size_t size, const Corners& corners) {
    const Sides& sides = question.sides;
    rows_ = sides.number();
    columns_ = corners.number();
    if (table_.size() < rows_ + 2 || table_.width() != corners.capacity())
        table_ = Table<double>(rows_ + 2, corners.capacity());
    level_.resize(rows_ + 2);
    start_.resize(rows_ + 1);
    steps_.resize(rows_ + 1);
    sizes_.resize(rows_ + 1);
    row_variables_.resize(rows_ + 1);
    column_variables_.resize(corners.capacity());
    for (std::size_t i = 0; i <= rows_; ++i) {
        const double* row = i < rows_ ? sides.rows[i] : question.form.coefficients;
        start_[i] = dot(row, question.witness.z, size);
        const auto [heights, sign] = heights_of(question, corners, i);
        double* entries = table_[i < rows_ ? i : rows_ + 1];
        for (std::size_t c = 0; c < columns_; ++c) entries[c] = sign * heights[c] - start_[i];
        row_variables_[i] = static_cast<std::int64_t>(i);
    }
    std::copy_n(start_.begin(), rows_, level_.begin());
    level_[rows_] = 1.0;
    level_[rows_ + 1] = start_[rows_];
    std::fill_n(table_[rows_], columns_, -1.0);
    for (std::size_t c = 0; c < columns_; ++c) column_variables_[c] = first_corner() + static_cast<std::int64_t>(c);
}

double CornerProgram::improve() {
    for (std::size_t step = 0; step < 20 + 4 * rows_; ++step) {
        const auto enters = entering();
        if (enters == NONE) break;
        double ratio = INFINITE;
        const auto leaves = leaving(enters, ratio);
        if (leaves == NONE) break;
        exchange(leaves, enters, ratio);
    }
    return level_[rows_ + 1];
}

std::int64_t CornerProgram::entering() const {
    const double* objective = table_[rows_ + 1];
    std::int64_t found = NONE;
    double best = ROUNDING;
    for (std::size_t c = 0; c < columns_; ++c)
        if (objective[c] > best) {
            best = objective[c];
            found = static_cast<std::int64_t>(c);
        }
    return found;
}

std::int64_t CornerProgram::leaving(std::size_t entering, double& ratio) {
    // All quotients first, so that none has to be foreseen.
    for (std::size_t r = 0; r <= rows_; ++r) {
        const double entry = -table_[r][entering], step = std::max(level_[r], 0.0) / entry;
        const bool is_used = entry > ROUNDING;
        sizes_[r] = is_used ? entry : 0.0;
        steps_[r] = is_used ? step : INFINITE;
    }
    std::int64_t found = NONE;
    double size = 0.0;
    for (std::size_t r = 0; r <= rows_; ++r)
        if (steps_[r] < ratio || (steps_[r] == ratio && sizes_[r] > size)) {
            ratio = steps_[r];
            found = static_cast<std::int64_t>(r);
            size = sizes_[r];
        }
    return found;
}

void CornerProgram::exchange(std::size_t leaving, std::size_t entering, double ratio) {
    double* own = table_[leaving];
    const double inverse = 1.0 / own[entering];
    for (std::size_t c = 0; c < columns_; ++c) own[c] *= -inverse;
    own[entering] = inverse;
    level_[leaving] = ratio;
    for (std::size_t r = 0; r < rows_ + 2; ++r) {
        double* row = table_[r];
        const double factor = row[entering];
        if (r == leaving || factor == 0.0) continue;
        level_[r] += factor * ratio;
        row[entering] = 0.0;
        add_multiple(row, factor, own, columns_);
    }
    std::swap(row_variables_[leaving], column_variables_[entering]);
}

bool CornerProgram::uses(std::size_t slot) const {
    const auto variable = first_corner() + static_cast<std::int64_t>(slot);
    return std::find(row_variables_.begin(), row_variables_.end(), variable) != row_variables_.end();
}

// The values at all corners of a row, or after the last one those of the form.
KnownRow CornerProgram::heights_of(const Question& question, const Corners& corners, std::size_t i) const {
    const Sides& sides = question.sides;
    if (i == rows_) return corners.heights(sides.known, question.name, question.form.coefficients, question.sign);
    return corners.heights(sides.known, sides.name(i), sides.rows[i], sides.sign(i));
}

// How the weight of a corner changes a row, or after the last one the form.
double CornerProgram::change(const Question& question, const Corners& corners, std::size_t i, std::size_t slot) const {
    const auto [heights, sign] = heights_of(question, corners, i);
    return sign * heights[slot] - start_[i];
}

void CornerProgram::join(const Question& question, Corners& corners, std::size_t slot) {
    const auto variable = first_corner() + static_cast<std::int64_t>(slot), total = static_cast<std::int64_t>(rows_);
    std::size_t column = columns_;
    for (std::size_t c = 0; c < columns_; ++c)
        if (column_variables_[c] == variable) column = c;
    if (column == columns_) {
        corners.add();
        columns_ = corners.number();
        column_variables_[column] = variable;
    }
    const auto by = [&](std::int64_t row) { return row == total ? -1.0 : change(question, corners, row, slot); };
    for (std::size_t r = 0; r < rows_ + 2; ++r) table_[r][column] = 0.0;
    table_[rows_ + 1][column] = change(question, corners, rows_, slot);
    // A new weight acts like a change of the constants of the rows, and of the sum of weights.
    for (std::size_t r = 0; r <= rows_; ++r)
        if (row_variables_[r] <= total) table_[r][column] += by(row_variables_[r]);
    for (std::size_t c = 0; c < columns_; ++c) {
        if (c == column || column_variables_[c] > total) continue;
        const double factor = by(column_variables_[c]);
        for (std::size_t r = 0; r < rows_ + 2; ++r) table_[r][column] -= factor * table_[r][c];
    }
}

Answer find_among_corners(const Question& question, Workspace& work, Corners& corners, CornerProgram& program) {
    const Form& form = question.form;
    const std::size_t size = work.frame.size();
    const double start = dot(form.coefficients, question.witness.z, size);
    const double least = std::max(form.threshold, 2.0 * form.noise);
    work.multipliers.resize(question.sides.number());
    program.begin(question, size, corners);
    for (std::int64_t step = 0; step < MAX_CORNERS; ++step) {
        const double value = program.improve();
        if (value > least && value >= GOOD_SHARE * (value - start)) {
            combine(question, work, corners, program);
            // What the dictionary says is checked: the point itself must be inside.
            const bool is_shown = dot(form.coefficients, work.out_z.data(), size) > least &&
                                  is_inside(question.sides, size, work.out_z.data());
            return {is_shown ? Verdict::some : Verdict::undecided, step};
        }
        const auto [bound, error] = bound_of(question, work, corners, program);
        if (bound + error <= 0.0) return {Verdict::none, step};
        if (bound - value <= RELATIVE * (std::abs(bound) + std::abs(start)) ||
            bound <= std::max(form.threshold, RELATIVE * std::abs(start)))
            return {Verdict::undecided, step};
        const auto slot = corners.slot([&](std::size_t one) { return program.uses(one); });
        if (slot == NONE) return {Verdict::undecided, step};
        corners.put(slot, work.frame, work.full.data());
        program.join(question, corners, slot);
    }
    return {Verdict::undecided, MAX_CORNERS};
}

}  // namespace reluscope
