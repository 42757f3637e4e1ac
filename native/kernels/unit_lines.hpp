// A unit's function between two ends: lines below and above it, what it is at least and at most, and its chord.
#pragma once

#include <algorithm>
#include <cmath>

#include "arrays.hpp"

namespace reluscope {

// Half of what float64 calls epsilon: the rounding of one operation, relative to its result.
inline constexpr double ROUNDED = 0x1p-53;

struct UnitLines {
    double below, below_start, above, above_start;
    double least, most;
};

// What a chord strays: the function is slope x + middle up to stray, and up to what rounding of these may be.
struct Chord {
    double slope, middle, stray, rounding;
};

// One unit of a gate: breakpoints, slopes and intercepts in the column of a table.
class UnitFunction {
public:
    UnitFunction(Rows<const double> breakpoints, Rows<const double> slopes, Rows<const double> intercepts,
                 std::size_t unit)
        : breakpoints_(breakpoints), slopes_(slopes), intercepts_(intercepts), unit_(unit) {}

    std::size_t num_levels() const { return breakpoints_.size(); }
    double level(std::size_t i) const { return breakpoints_[i][unit_]; }
    double slope(std::size_t piece) const { return slopes_[piece][unit_]; }
    double intercept(std::size_t piece) const { return intercepts_[piece][unit_]; }

    // The number of breakpoints below a point.
    std::size_t piece(double point) const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < num_levels(); ++i) found += level(i) < point;
        return found;
    }
    bool bends(double low, double high) const {
        for (std::size_t i = 0; i < num_levels(); ++i)
            if (low < level(i) && level(i) < high) return true;
        return false;
    }
    double steepest() const {
        double found = 0.0;
        for (std::size_t piece = 0; piece <= num_levels(); ++piece) found = std::max(found, std::abs(slope(piece)));
        return found;
    }

    // The line below has the slope at the middle: of a ReLU that of the line that strays less.
    UnitLines lines(double low, double high) const {
        const std::size_t own = piece(0.5 * (low + high));
        UnitLines found{slope(own), intercept(own), slope(own), intercept(own), INFINITE, -INFINITE};
        const bool is_bent = bends(low, high);
        double sum = 0.0;
        if (is_bent) {
            found.above = rise(low, high);
            found.below_start = INFINITE;
            found.above_start = -INFINITE;
        }
        each_place(low, high, [&](double place, double value, double terms) {
            const double noise = 2 * ROUNDED * terms;
            sum += value;
            found.least = std::min(found.least, value - noise);
            found.most = std::max(found.most, value + noise);
            if (!is_bent) return;
            const double under = found.below * place, over = found.above * place;
            found.below_start = std::min(found.below_start, value - under - noise - 4 * ROUNDED * (terms + std::abs(under)));
            found.above_start = std::max(found.above_start, value - over + noise + 4 * ROUNDED * (terms + std::abs(over)));
        });
        // Comparisons pass over what is no number.
        if (!std::isfinite(sum)) return {0.0, -INFINITE, 0.0, INFINITE, -INFINITE, INFINITE};
        return found;
    }

    Chord chord(double low, double high) const {
        Chord found{rise(low, high), 0.0, 0.0, 0.0};
        double top = -INFINITE, bottom = INFINITE;
        each_place(low, high, [&](double place, double value, double terms) {
            const double away = value - found.slope * place;
            top = std::max(top, away);
            bottom = std::min(bottom, away);
            found.rounding = std::max(found.rounding, 8 * ROUNDED * (terms + std::abs(found.slope * place)));
        });
        found.middle = 0.5 * (top + bottom);
        found.stray = 0.5 * (top - bottom);
        return found;
    }

private:
    // A function of pieces is extreme, and farthest from a line, at an end or at a breakpoint.
    template <class Visit> void each_place(double low, double high, Visit visit) const {
        for (std::size_t i = 0; i < num_levels() + 2; ++i) {
            const double point = i == 0 ? low : i == 1 ? high : level(i - 2), place = std::min(std::max(point, low), high);
            const std::size_t own = piece(place);
            const double part = slope(own) * place;
            visit(place, part + intercept(own), std::abs(part) + std::abs(intercept(own)));
        }
    }
    double rise(double low, double high) const {
        const std::size_t first = piece(low), last = piece(high);
        const double change = slope(last) * high + intercept(last) - (slope(first) * low + intercept(first));
        return change / (high - low);
    }

    Rows<const double> breakpoints_, slopes_, intercepts_;
    std::size_t unit_;
};

}  // namespace reluscope
