// The rows R z >= 0 of one cell, and what is computed of them once.
#pragma once

#include "linear_forms.hpp"

namespace reluscope {

// A row of which something is known up to its sign.
struct KnownRow {
    const double* entries;
    double sign;
};

// What questions need of rows and forms, one after the other. Those of one name differ in their signs alone.
class KnownRows {
public:
    void forget(std::size_t number, std::size_t width) {
        if (full_.width() != width || full_.size() < number) full_ = Table<double>(number, width);
        lengths_.assign(number, UNKNOWN);
        is_full_.assign(number, 0);
        heights_ = {};
        numbers_ = {};
    }
    // In terms of y.
    KnownRow full(const Frame& frame, std::size_t name, const double* row, double sign) {
        if (frame.is_identity()) return {row, 1.0};
        if (!is_full_[name]) {
            double* full = full_[name];
            frame.pull_back(row, full);
            for (std::size_t j = 0; j < full_.width(); ++j) full[j] *= sign;
            is_full_[name] = 1;
        }
        return {full_[name], sign};
    }
    // The square of the length, in terms of y.
    double length(const Frame& frame, std::size_t name, const double* row, double sign) {
        if (lengths_[name] == UNKNOWN) {
            const double* entries = full(frame, name, row, sign).entries;
            lengths_[name] = dot(entries, entries, frame.num_columns());
        }
        return lengths_[name];
    }
    // The values at some points z. Numbers tell one point from another; the last one given tells what all points are.
    KnownRow heights(const Table<double>& points, View<std::uint64_t> numbers, std::uint64_t last, std::size_t name,
                     const double* row, double sign) {
        if (heights_.width() != points.size() || heights_.size() < lengths_.size()) {
            heights_ = Table<double>(lengths_.size(), points.size());
            numbers_ = Table<std::uint64_t>(lengths_.size(), points.size(), 0);
            last_.assign(lengths_.size(), 0);
        }
        double* heights = heights_[name];
        if (last_[name] == last) return {heights, sign};
        last_[name] = last;
        std::uint64_t* known = numbers_[name];
        for (std::size_t c = 0; c < numbers.size(); ++c)
            if (known[c] != numbers[c]) {
                heights[c] = sign * dot(row, points[c], points.width());
                known[c] = numbers[c];
            }
        return {heights, sign};
    }

private:
    static constexpr double UNKNOWN = -1.0;
    Table<double> full_;
    Vector<double> lengths_;
    Vector<std::uint8_t> is_full_;
    Table<double> heights_;
    Table<std::uint64_t> numbers_;
    Vector<std::uint64_t> last_;
};

struct Sides {
    Rows<const double> rows;
    // Bounds on the errors of the rows' values: anywhere in the box, and on cones for each coordinate of y.
    View<double> noise;
    Rows<const double> slack;
    KnownRows& known;
    // The names of rows, and their signs; without, rows are named by their places.
    View<std::int64_t> names = {};
    View<double> signs = {};

    std::size_t number() const { return rows.size(); }
    std::size_t name(std::size_t i) const { return names.empty() ? i : static_cast<std::size_t>(names[i]); }
    double sign(std::size_t i) const { return signs.empty() ? 1.0 : signs[i]; }
    View<double> slack_of(std::size_t i) const { return {slack[i], slack.width()}; }
    double noise_of(std::size_t i, const double* y) const { return noise_at(noise[i], slack_of(i), y); }
    KnownRow full(const Frame& frame, std::size_t i) const { return known.full(frame, name(i), rows[i], sign(i)); }
    double length(const Frame& frame, std::size_t i) const { return known.length(frame, name(i), rows[i], sign(i)); }
};

}  // namespace reluscope
