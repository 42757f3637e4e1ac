#include "spanning_vertices.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "wide.hpp"

namespace reluscope {
namespace {

// Corners of a cell that others are derived from: of more there is always a good choice among the first.
constexpr std::size_t MOST_CORNERS = 8;
// Roundings of a weight and of a product with it, in parts of those that a bound on rounding counts for one sum.
constexpr double ROUNDINGS = 0.5;
constexpr std::size_t BLOCK = 1024;

struct Term {
    std::int32_t vertex;
    double weight;
};
using Sum = std::vector<Term>;

struct Choice {
    double cost = INFINITE;
    std::array<double, 3> weights{};
    std::array<std::int32_t, 3> corners{};
    double offset = 0.0;  // how far the combination of the corners may be from the vertex
};

// Derives values at corners from values at others, and knows by how much errors grow on the way: by the sum of the
// absolute weights that a value is of those that were evaluated, along all ways together.
class Span {
public:
    Span(ListsView cells, Rows<const double> points, View<double> kinks, View<double> factor, View<double> drift,
         double most_factor, double most_drift)
        : cells_(cells), points_(points), kinks_(kinks), given_factor_(factor), given_drift_(drift),
          most_factor_(most_factor), most_drift_(most_drift), factor_(factor.begin(), factor.end()),
          drift_(drift.begin(), drift.end()), slack_(drift.begin(), drift.end()), spread_(points.size(), 0.0),
          is_known_(points.size(), 0),
          is_evaluated_(points.size(), 0), sums_(points.size()), cells_of_(points.size()), known_(cells.size(), 0) {
        for (std::size_t cell = 0; cell < cells_.size(); ++cell)
            for (const auto vertex : cells_[cell])
                if (cells_of_[vertex].empty() || cells_of_[vertex].back() != static_cast<std::int32_t>(cell))
                    cells_of_[vertex].push_back(static_cast<std::int32_t>(cell));
    }

    Spanning find() {
        for (std::size_t vertex = 0; vertex < points_.size(); ++vertex)
            if (cells_of_[vertex].empty()) evaluate(static_cast<std::int32_t>(vertex));
        for (;;) {
            // First what is near to what was evaluated: errors grow on the way.
            for (std::size_t i = 0; i < queue_.size(); ++i) derive(queue_[i]);
            queue_.clear();
            const auto next = most_wanted();
            if (next == NONE) return found();
            evaluate(next);
        }
    }

private:
    void learn(std::int32_t vertex) {
        is_known_[vertex] = 1;
        for (const auto cell : cells_of_[vertex])
            if (++known_[cell] >= 3 && known_[cell] < cells_[cell].size()) queue_.push_back(cell);
    }

    void evaluate(std::int32_t vertex) {
        is_evaluated_[vertex] = 1;
        sums_[vertex] = {{vertex, 1.0}};
        learn(vertex);
    }

    // The cheapest unknown corner of a cell of which most is known.
    std::int32_t most_wanted() const {
        std::int32_t best = NONE;
        std::size_t best_known = 0, best_size = 0;
        double best_cost = INFINITE;
        for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
            const auto corners = cells_[cell];
            if (known_[cell] >= corners.size()) continue;
            const std::size_t known = std::min<std::size_t>(known_[cell], 2), size = corners.size();
            if (best != NONE && known < best_known) continue;
            for (const auto vertex : corners) {
                if (is_known_[vertex]) continue;
                const double cost = given_factor_[vertex] / most_factor_ + given_drift_[vertex] / most_drift_;
                const bool is_better = best == NONE || known > best_known || cost < best_cost ||
                                       (cost == best_cost && size > best_size);
                if (!is_better) continue;
                best = vertex, best_known = known, best_size = size, best_cost = cost;
            }
        }
        return best;
    }

    void derive(std::int32_t cell) {
        std::array<std::int32_t, MOST_CORNERS> sources;
        std::size_t number = 0;
        for (const auto vertex : cells_[cell])
            if (is_known_[vertex] && number < MOST_CORNERS) sources[number++] = vertex;
        for (const auto vertex : cells_[cell]) {
            if (is_known_[vertex]) continue;
            Choice best;
            for (std::size_t i = 0; i < number; ++i)
                for (std::size_t j = i + 1; j < number; ++j)
                    for (std::size_t k = j + 1; k < number; ++k) {
                        const Choice other = choice(vertex, {sources[i], sources[j], sources[k]});
                        if (other.cost < best.cost) best = other;
                    }
            if (best.cost < INFINITE && take(vertex, best)) learn(vertex);
        }
    }

    Choice choice(std::int32_t vertex, const std::array<std::int32_t, 3>& corners) const {
        std::array<std::array<double, 2>, 3> away;  // from the vertex
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t axis = 0; axis < 2; ++axis)
                away[i][axis] = points_[corners[i]][axis] - points_[vertex][axis];
        const auto area = [&](std::size_t i, std::size_t j) {
            return away[i][0] * away[j][1] - away[i][1] * away[j][0];
        };
        const double all = area(0, 1) + area(1, 2) + area(2, 0), second = area(2, 0) / all, third = area(0, 1) / all;
        Choice found;
        found.weights = {1.0 - second - third, second, third};
        found.corners = corners;
        double length = 0.0, x = 0.0, y = 0.0, factor = 0.0, drift = 0.0;
        for (std::size_t i = 0; i < 3; ++i) {
            const double weight = found.weights[i], size = std::abs(weight);
            x += weight * away[i][0], y += weight * away[i][1];
            length += size * std::hypot(away[i][0], away[i][1]);
            factor += size * factor_[corners[i]];
            drift += size * (drift_[corners[i]] + kinks_[corners[i]]);
        }
        found.offset = std::hypot(x, y) + 8 * std::numeric_limits<double>::epsilon() * length;
        const double cost = std::max(factor / most_factor_, (drift + found.offset) / most_drift_);
        found.cost = std::isfinite(cost) ? cost : INFINITE;
        return found;
    }

    // Keeps a derived value unless errors grow too much.
    bool take(std::int32_t vertex, const Choice& choice) {
        double slack = choice.offset, spread = 0.0, factor = 0.0;
        Sum sum{{vertex, 1.0}};
        for (std::size_t i = 0; i < 3; ++i) {
            const double weight = choice.weights[i];
            if (weight == 0.0) continue;
            slack += std::abs(weight) * kinks_[choice.corners[i]];
            spread += std::abs(weight);
            add(sum, sums_[choice.corners[i]], weight);
        }
        double drift = slack + kinks_[vertex];
        for (const auto& [source, weight] : sum) {
            if (source == vertex) continue;
            drift += std::abs(weight) * slack_[source];
            if (is_evaluated_[source]) factor += std::abs(weight) * given_factor_[source];
        }
        if (!(factor <= most_factor_ && drift <= most_drift_)) return false;
        factor_[vertex] = std::max(factor, given_factor_[vertex]);
        drift_[vertex] = std::max(drift, given_drift_[vertex]);
        slack_[vertex] = slack;
        spread_[vertex] = spread;
        sums_[vertex] = std::move(sum);
        return true;
    }

    void add(Sum& sum, const Sum& other, double weight) const {
        for (const auto& term : other) {
            const auto place = std::find_if(sum.begin(), sum.end(), [&](const Term& t) { return t.vertex == term.vertex; });
            if (place == sum.end())
                sum.push_back({term.vertex, weight * term.weight});
            else
                place->weight += weight * term.weight;
        }
    }

    Spanning found() {
        Spanning result;
        result.of.offsets.push_back(0);
        for (std::size_t vertex = 0; vertex < points_.size(); ++vertex) {
            if (is_evaluated_[vertex]) {
                result.evaluated.push_back(static_cast<std::int64_t>(vertex));
                continue;
            }
            result.derived.push_back(static_cast<std::int64_t>(vertex));
            double roundings = 0.0;
            for (const auto& [source, weight] : sums_[vertex]) {
                roundings += ROUNDINGS * std::abs(weight) * (is_evaluated_[source] ? 1.0 : spread_[source]);
                if (!is_evaluated_[source] || weight == 0.0) continue;
                result.of.ids.push_back(source);
                result.weights.push_back(weight);
            }
            result.of.offsets.push_back(static_cast<std::int64_t>(result.of.ids.size()));
            result.roundings = std::max(result.roundings, roundings / factor_[vertex]);
        }
        result.factor = std::move(factor_);
        result.drift = std::move(drift_);
        return result;
    }

    ListsView cells_;
    Rows<const double> points_;
    View<double> kinks_, given_factor_, given_drift_;
    double most_factor_, most_drift_;
    // Of every vertex: its errors, what the step to it adds to that of its position, and the sizes of its weights.
    Vector<double> factor_, drift_, slack_, spread_;
    Vector<std::uint8_t> is_known_, is_evaluated_;
    // Its value as a combination of evaluated ones, and of what was added at derived ones on the way.
    std::vector<Sum> sums_;
    std::vector<std::vector<std::int32_t>> cells_of_;
    std::vector<std::size_t> known_;
    std::vector<std::int32_t> queue_;
};

WIDE void add_times(const double* source, double weight, std::size_t width, double* __restrict row) {
    for (std::size_t j = 0; j < width; ++j) row[j] += weight * source[j];
}

}  // namespace

Spanning spanning_vertices(ListsView cells, Rows<const double> points, View<double> kinks, View<double> factor,
                           View<double> drift, double most_factor, double most_drift) {
    return Span(cells, points, kinks, factor, drift, most_factor, most_drift).find();
}

void combine_rows(Rows<double> rows, View<std::int64_t> derived, ListsView of, View<double> weights) {
    // Some columns at a time, so that what is combined stays in the cache.
    for (std::size_t start = 0; start < rows.width(); start += BLOCK) {
        const std::size_t width = std::min(BLOCK, rows.width() - start);
        for (std::size_t i = 0; i < derived.size(); ++i) {
            double* row = rows[derived[i]] + start;
            std::fill(row, row + width, 0.0);
            for (auto entry = of.offsets[i]; entry < of.offsets[i + 1]; ++entry)
                add_times(rows[of.ids[entry]] + start, weights[entry], width, row);
        }
    }
}

}  // namespace reluscope
