#include "sampling.hpp"

#include <algorithm>

#include "wide.hpp"

namespace reluscope {
namespace {

struct Chord {
    double ahead, back;
};

// How far it is to the nearest row on either side.
WIDE Chord chord(const double* slack, const double* speed, std::size_t height) {
    constexpr std::size_t LANES = 4;
    double ahead[LANES], back[LANES];
    std::fill_n(ahead, LANES, INFINITE);
    std::fill_n(back, LANES, INFINITE);
    const auto meet = [&](std::size_t lane, std::size_t row) {
        const double time = slack[row] / speed[row];
        const double there = speed[row] > 0 ? time : INFINITE, here = speed[row] < 0 ? -time : INFINITE;
        ahead[lane] = std::min(ahead[lane], there);
        back[lane] = std::min(back[lane], here);
    };
    std::size_t row = 0;
    for (; row + LANES <= height; row += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) meet(lane, row + lane);
    for (std::size_t lane = 0; row + lane < height; ++lane) meet(lane, row + lane);
    return {*std::min_element(ahead, ahead + LANES), *std::min_element(back, back + LANES)};
}

WIDE void advance(double* __restrict slack, double step, const double* __restrict speed, std::size_t height) {
    for (std::size_t row = 0; row < height; ++row) slack[row] = std::max(slack[row] - step * speed[row], 0.0);
}

// Numbers that are read in a moment.
constexpr std::size_t MOMENT = std::size_t{1} << 25;

}  // namespace

std::size_t walk(Rows<const double> columns, const Chain& chain, std::size_t steps, const Uniform& uniform) {
    const std::size_t dim = columns.size(), height = columns.width();
    const std::size_t number = std::min(steps, MOMENT / (height + 16) + 1);
    for (std::size_t i = 0; i < number; ++i) {
        // Along one axis to a uniform point of the chord.
        const auto axis = std::min(static_cast<std::size_t>(uniform() * static_cast<double>(dim)), dim - 1);
        const double* speed = columns[axis];
        const auto [ahead, back] = chord(chain.slack.data(), speed, height);
        const double step = uniform() * (ahead + back) - back;
        chain.place[axis] += step;
        advance(chain.slack.data(), step, speed, height);
    }
    return number;
}

void refresh(Rows<const double> columns, View<double> room, const Chain& chain) {
    std::copy(room.begin(), room.end(), chain.slack.begin());
    for (std::size_t axis = 0; axis < columns.size(); ++axis)
        for (std::size_t row = 0; row < columns.width(); ++row)
            chain.slack[row] -= chain.place[axis] * columns[axis][row];
    for (auto& left : chain.slack) left = std::max(left, 0.0);
}

}  // namespace reluscope
