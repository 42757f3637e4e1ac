#include "hyperplanes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

namespace reluscope {
namespace {

// So many pairs take about a tenth of a second.
constexpr std::size_t MOMENT = std::size_t{1} << 24;

class Comparison {
public:
    Comparison(const GroupedGate& gate, double proportional)
        : gate_(gate), proportional_(proportional), function_(gate.num_points), line_(gate.num_points) {}

    // Values of a function that vanishes on the hyperplane, and nowhere else.
    Vector<double>& line() { return line_; }

    bool differ_in_two(const Word* units, std::int64_t first, std::int64_t second) const {
        bool found = false;
        for (std::size_t word = 0; word < gate_.words_per_plane; ++word) {
            const Word changed = this->changed(word, first, second) & units[word];
            if (!changed) continue;
            if (found || changed & (changed - 1)) return true;
            found = true;
        }
        return false;
    }

    // Whether all units that differ are on the breakpoints between their pieces all over the hyperplane; the first
    // unit that is not constant sets it where the line is still zero.
    bool vanish(std::int64_t first, std::int64_t second) {
        for (std::size_t word = 0; word < gate_.words_per_plane; ++word)
            for (Word left = changed(word, first, second); left; left &= left - 1)
                if (!vanishes(word, std::countr_zero(left), first, second)) return false;
        return true;
    }

private:
    Word changed(std::size_t word, std::int64_t first, std::int64_t second) const {
        const Word *one = gate_.words[first], *two = gate_.words[second];
        Word changed = 0;
        for (std::size_t plane = 0; plane < gate_.num_planes; ++plane) {
            const std::size_t column = plane * gate_.words_per_plane + word;
            changed |= one[column] ^ two[column];
        }
        return changed;
    }

    std::size_t piece(std::int64_t code, std::size_t word, int bit) const {
        std::size_t piece = 0;
        for (std::size_t plane = 0; plane < gate_.num_planes; ++plane)
            piece |= (gate_.words[code][plane * gate_.words_per_plane + word] >> bit & 1) << plane;
        return piece;
    }

    bool vanishes(std::size_t word, int bit, std::int64_t first, std::int64_t second) {
        const std::size_t unit = 64 * word + bit, group = gate_.slot[first];
        const std::size_t own = piece(first, word, bit), other = piece(second, word, bit);
        const std::size_t num_levels = gate_.thresholds.width();
        const std::size_t last = num_levels == 0 ? gate_.num_candidates - 1 : num_levels;
        // Only here is known which units and pieces the bits of codes name.
        if (unit >= gate_.noise.width() || std::max(own, other) > last)
            throw std::invalid_argument("expected codes of units and pieces that there are");
        const double noise = gate_.noise[group][unit];
        const std::size_t size = gate_.num_points;
        const double* values = gate_.values + (group * gate_.noise.width() + unit) * gate_.num_candidates * size;
        // A max unit goes from one candidate to another, others over all breakpoints in between.
        if (num_levels == 0) {
            for (std::size_t i = 0; i < size; ++i) function_[i] = values[other * size + i] - values[own * size + i];
            return is_on_line(noise);
        }
        for (std::size_t step = std::min(own, other); step < std::max(own, other); ++step) {
            for (std::size_t i = 0; i < size; ++i) function_[i] = values[i] - gate_.thresholds[unit][step];
            if (!is_on_line(noise)) return false;
        }
        return true;
    }

    // Whether the function vanishes where the line does, by their values; a constant zero does everywhere.
    bool is_on_line(double noise) {
        double largest = 0.0, least = INFINITE, most = -INFINITE, squares = 0.0, along = 0.0;
        bool is_set = false;
        for (std::size_t i = 0; i < line_.size(); ++i) {
            const double value = function_[i];
            largest = std::max(largest, std::abs(value));
            least = std::min(least, value);
            most = std::max(most, value);
            squares += value * value;
            along += value * line_[i];
            is_set |= line_[i] != 0;
        }
        if (largest <= noise) return true;
        if (is_set) {
            for (std::size_t i = 0; i < line_.size(); ++i)
                if (std::abs(function_[i] - along * line_[i]) > proportional_ * largest + noise) return false;
            return true;
        }
        if (most - least <= 2 * noise) return false;
        const double length = std::sqrt(squares);
        for (std::size_t i = 0; i < line_.size(); ++i) line_[i] = function_[i] / length;
        return true;
    }

    GroupedGate gate_;
    double proportional_;
    Vector<double> function_, line_;
};

}  // namespace

LinePairs search_pairs(const GroupedGate& gate, View<std::int64_t> members, Rows<const Word> alone,
                       double proportional, std::size_t begin) {
    Comparison comparison(gate, proportional);
    auto& line = comparison.line();
    LinePairs found{Table<std::int64_t>(0, 2), Table<double>(0, gate.num_points), {}, begin};
    std::size_t num_compared = 0;
    for (; found.next < members.size() && num_compared < MOMENT; ++found.next) {
        const std::size_t place = found.next;
        const auto first = members[place];
        const Word* words = gate.words[first];
        for (std::size_t next = place + 1; next < members.size(); ++next) {
            const auto second = members[next];
            if (gate.slot[second] != gate.slot[first]) break;
            ++num_compared;
            if (comparison.differ_in_two(alone[gate.slot[first]], first, second)) continue;
            std::fill(line.begin(), line.end(), 0.0);
            if (!comparison.vanish(first, second)) continue;
            if (std::equal(words, words + gate.words.width(), gate.words[second])) continue;
            std::int64_t* pair = found.pairs.add();
            pair[0] = first;
            pair[1] = second;
            std::copy(line.begin(), line.end(), found.lines.add());
            found.is_clear.push_back(std::any_of(line.begin(), line.end(), [](double value) { return value != 0; }));
        }
    }
    return found;
}

Vector<std::uint8_t> stays(const GroupedGate& gate, Rows<const std::int64_t> pairs, Rows<const double> lines,
                           double proportional) {
    Comparison comparison(gate, proportional);
    Vector<std::uint8_t> found(pairs.size());
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
        std::copy_n(lines[pair], gate.num_points, comparison.line().begin());
        found[pair] = comparison.vanish(pairs[pair][0], pairs[pair][1]);
    }
    return found;
}

}  // namespace reluscope
