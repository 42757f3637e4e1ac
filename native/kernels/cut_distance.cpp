#include "cut_distance.hpp"

#include <algorithm>
#include <cmath>

namespace reluscope {
namespace {

constexpr double LOWERED = 1e-12;

double clipped(double value, double low, double high) { return std::min(std::max(value, low), high); }

double length(double sum, double part, Length norm) {
    return norm == Length::sum ? sum + part : norm == Length::euclidean ? sum + part * part : std::max(sum, part);
}

// The largest value of the dual at its kinks.
double in_l1(const double* lower, const double* upper, const double* form, double level, std::size_t dim) {
    double best = 0.0;
    for (std::size_t k = 0; k < dim; ++k) {
        const double kink = 1.0 / std::abs(form[k]);
        if (!std::isfinite(kink)) continue;
        double value = kink * level;
        for (std::size_t i = 0; i < dim; ++i) {
            const double pull = kink * form[i], middle = clipped(0.0, lower[i], upper[i]);
            value += std::min({std::abs(lower[i]) - pull * lower[i], std::abs(upper[i]) - pull * upper[i],
                               std::abs(middle) - pull * middle});
        }
        best = std::max(best, value);
    }
    return best;
}

// The nearest points of all levels are on a path on which the form grows linearly between few places.
double on_path(const double* lower, const double* upper, const double* form, double level, std::size_t dim, bool is_l2,
               Vector<double>& room) {
    const auto way = [&](std::size_t i) {
        return is_l2 ? form[i] : form[i] > 0.0 ? 1.0 : form[i] < 0.0 ? -1.0 : 0.0;
    };
    const auto gain_at = [&](double place) {
        double gain = 0.0;
        for (std::size_t i = 0; i < dim; ++i) gain += form[i] * clipped(place * way(i), lower[i], upper[i]);
        return gain;
    };
    room.clear();
    for (std::size_t i = 0; i < dim; ++i)
        for (const double end : {lower[i] / way(i), upper[i] / way(i)})
            if (std::isfinite(end) && end > 0.0) room.push_back(end);
    std::sort(room.begin(), room.end());
    double start = 0.0, low = gain_at(0.0), place = 0.0;
    if (low < level) {
        place = room.empty() ? 0.0 : room.back();
        for (const double end : room) {
            const double high = gain_at(end);
            if (high >= level) {
                place = high > low ? start + clipped((level - low) / (high - low), 0.0, 1.0) * (end - start) : start;
                break;
            }
            start = end;
            low = high;
        }
    }
    if (!is_l2) return place;
    // Any place gives a bound: the point there is nearest in the sum of both.
    double squares = 0.0, gain = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
        const double entry = clipped(place * form[i], lower[i], upper[i]);
        squares += entry * entry;
        gain += form[i] * entry;
    }
    return std::sqrt(std::max(squares + 2 * place * (level - gain), 0.0));
}

}  // namespace

double cut_distance(const double* lower, const double* upper, const double* form, double level, std::size_t dim, Length norm,
                    Vector<double>& room) {
    double own = 0.0, most = 0.0, sums = std::abs(level);
    for (std::size_t i = 0; i < dim; ++i) {
        own = length(own, std::max({lower[i], -upper[i], 0.0}), norm);
        most += form[i] > 0.0 ? form[i] * upper[i] : form[i] * lower[i];
        sums += std::abs(form[i]) * std::max(std::abs(lower[i]), std::abs(upper[i]));
    }
    if (norm == Length::euclidean) own = std::sqrt(own);
    level -= LOWERED * sums;
    if (most < level) return INFINITE;
    const double cut = norm == Length::sum ? in_l1(lower, upper, form, level, dim)
                                           : on_path(lower, upper, form, level, dim, norm == Length::euclidean, room);
    const double found = std::max(own, cut) * (1 - LOWERED);
    return found > 0.0 ? found : 0.0;  // what is no number says nothing
}

}  // namespace reluscope
