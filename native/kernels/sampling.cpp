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

class Chain {
public:
    Chain(Rows<const double> columns, View<double> room, const Uniform& uniform)
        : columns_(columns),
          room_(room),
          uniform_(uniform),
          place_(columns.size(), 0.0),
          slack_(room.begin(), room.end()) {}

    const Vector<double>& place() const { return place_; }

    // Go along one axis to a uniform point of the chord.
    void step() {
        const std::size_t dim = place_.size();
        const auto axis = std::min(static_cast<std::size_t>(uniform_() * static_cast<double>(dim)), dim - 1);
        const double* speed = columns_[axis];
        const auto [ahead, back] = chord(slack_.data(), speed, slack_.size());
        const double step = uniform_() * (ahead + back) - back;
        place_[axis] += step;
        advance(slack_.data(), step, speed, slack_.size());
    }

    void refresh() {
        std::copy(room_.begin(), room_.end(), slack_.begin());
        for (std::size_t axis = 0; axis < place_.size(); ++axis)
            for (std::size_t row = 0; row < slack_.size(); ++row) slack_[row] -= place_[axis] * columns_[axis][row];
        for (auto& left : slack_) left = std::max(left, 0.0);
    }

private:
    Rows<const double> columns_;
    View<double> room_;
    Uniform uniform_;
    Vector<double> place_, slack_;
};

}  // namespace

Table<double> walk(Rows<const double> columns, View<double> room, std::size_t draws, const Pace& pace,
                   const Uniform& uniform) {
    Chain chain(columns, room, uniform);
    Table<double> found(draws, columns.size());
    std::size_t since = 0;
    for (std::size_t draw = 0; draw < draws; ++draw) {
        for (std::size_t i = 0; i < (draw ? pace.thinning : pace.burn_in); ++i) {
            chain.step();
            if (++since == pace.refresh) {
                since = 0;
                chain.refresh();
            }
        }
        std::copy(chain.place().begin(), chain.place().end(), found[draw]);
    }
    return found;
}

}  // namespace reluscope
