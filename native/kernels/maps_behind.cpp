#include "maps_behind.hpp"

#include <algorithm>
#include <cmath>

#include "threads.hpp"
#include "wide.hpp"

namespace reluscope {
namespace {

// Cells that one thread takes on at a time: of their sums many are shared.
constexpr std::size_t CELLS = 64;

// Sums of one unit more: of coefficients, output by output for each coordinate, and of bounds behind them.
WIDE void add_terms(const double* before, const double* weights, const double* terms, const double* errors,
                    std::size_t width, std::size_t number, double* __restrict after) {
    for (std::size_t a = 0; a < width; ++a, before += number, after += number) {
        const double term = terms[a];
        for (std::size_t i = 0; i < number; ++i) after[i] = before[i] + weights[i] * term;
    }
    for (std::size_t a = 0; a < width; ++a, before += number, after += number) {
        const double error = errors[a];
        for (std::size_t i = 0; i < number; ++i) after[i] = before[i] + std::abs(weights[i]) * error;
    }
}

// Adds up one cell after another.
class Sums {
public:
    Sums(const ArrivingMaps& arriving, const GateAndMatrix& between)
        : arriving_(arriving),
          between_(between),
          width_(arriving.maps.width()),
          size_(width_ * between.num_outputs()),
          sums_(1, 2 * size_, 0.0),
          term_(width_),
          error_(width_) {}

    void forget() {
        units_.clear();
        cell_ = arriving_.cell_of.size();
    }

    void add(std::size_t cell, MapsBehind& found) {
        const std::size_t num_units = between_.num_units();
        const std::uint16_t* pieces = arriving_.pieces[cell];
        std::size_t first = 0;
        if (cell_ < cell && arriving_.cell_of[cell_] == arriving_.cell_of[cell]) {
            const std::uint16_t* before = arriving_.pieces[cell_];
            first = static_cast<std::size_t>(std::mismatch(before, before + num_units, pieces).first - before);
        }
        while (!units_.empty() && units_.back() >= first) units_.pop_back();
        if (first == 0) units_.clear();
        for (std::size_t unit = first; unit < num_units; ++unit) add_unit(cell, unit, pieces[unit]);
        cell_ = cell;
        write(cell, found);
    }

private:
    // Row n of the sums is over the first n units that count: those of the coefficients, output by output for each
    // coordinate, then those of the bounds.
    void add_unit(std::size_t cell, std::size_t unit, std::size_t piece) {
        const double slope = between_.slopes[piece][unit], intercept = between_.intercepts[piece][unit];
        if (slope == 0.0 && intercept == 0.0) return;
        const std::size_t row = static_cast<std::size_t>(arriving_.cell_of[cell]) * between_.num_units() + unit;
        const double *map = arriving_.maps[row], *error = arriving_.errors[row], rounding = between_.rounding;
        for (std::size_t a = 0; a < width_; ++a) {
            const double added = a + 1 == width_ ? intercept : 0.0, size = std::abs(slope * map[a]) + std::abs(added);
            const bool is_exact = added == 0.0 && (slope == 0.0 || slope == 1.0);
            term_[a] = slope * map[a] + added;
            error_[a] = std::abs(slope) * error[a] + (is_exact ? 0.0 : rounding * size);
            error_[a] += rounding * std::abs(term_[a]);
        }
        const std::size_t level = units_.size(), number = between_.num_outputs();
        if (sums_.size() < level + 2) sums_.resize(level + 2);
        add_terms(sums_[level], between_.weights[unit], term_.data(), error_.data(), width_, number, sums_[level + 1]);
        units_.push_back(unit);
    }

    void write(std::size_t cell, MapsBehind& found) const {
        const std::size_t number = between_.num_outputs();
        const double *maps = sums_[units_.size()], *errors = maps + size_;
        for (std::size_t i = 0; i < number; ++i) {
            double *map = found.maps[cell * number + i], *error = found.errors[cell * number + i];
            for (std::size_t a = 0; a < width_; ++a) {
                map[a] = maps[a * number + i];
                error[a] = errors[a * number + i];
            }
            map[width_ - 1] += between_.constants[i];
            error[width_ - 1] += between_.rounding * std::abs(between_.constants[i]);
        }
    }

    ArrivingMaps arriving_;
    GateAndMatrix between_;
    std::size_t width_, size_;
    // The cell that was last, and of which units there are sums.
    std::size_t cell_ = 0;
    Vector<std::size_t> units_;
    Table<double> sums_;
    Vector<double> term_, error_;
};

}  // namespace

MapsBehind maps_behind(const ArrivingMaps& arriving, const GateAndMatrix& between, std::size_t num_threads) {
    const std::size_t number = arriving.cell_of.size(), rows = number * between.num_outputs();
    MapsBehind found{Table<double>(rows, arriving.maps.width()), Table<double>(rows, arriving.maps.width())};
    std::vector<Sums> sums(num_threads, Sums(arriving, between));
    share_out((number + CELLS - 1) / CELLS, num_threads, [&](std::size_t thread, std::size_t index) {
        sums[thread].forget();
        const std::size_t end = std::min(number, (index + 1) * CELLS);
        for (std::size_t cell = index * CELLS; cell < end; ++cell) sums[thread].add(cell, found);
        return true;
    });
    return found;
}

}  // namespace reluscope
