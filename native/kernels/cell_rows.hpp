// The rows R z >= 0 of one cell, and what is computed of them once.
#pragma once

#include "linear_forms.hpp"

namespace reluscope {

// A row in terms of y, up to its sign.
struct PulledRow {
    const double* entries;
    double sign;
};

// Rows in terms of y, which one question after the other may need. Rows of one name differ in their signs alone.
class PulledRows {
public:
    void forget(std::size_t number, std::size_t width) {
        if (full_.width() != width || full_.size() < number) full_ = Table<double>(number, width);
        lengths_.assign(number, UNKNOWN);
        is_known_.assign(number, 0);
    }
    PulledRow row(const Frame& frame, std::size_t name, const double* row, double sign) {
        if (frame.is_identity()) return {row, 1.0};
        if (!is_known_[name]) {
            double* full = full_[name];
            frame.pull_back(row, full);
            for (std::size_t j = 0; j < full_.width(); ++j) full[j] *= sign;
            is_known_[name] = 1;
        }
        return {full_[name], sign};
    }
    // The square of the length.
    double length(const Frame& frame, std::size_t name, const double* row, double sign) {
        if (lengths_[name] == UNKNOWN) {
            const double* entries = this->row(frame, name, row, sign).entries;
            lengths_[name] = dot(entries, entries, frame.num_columns());
        }
        return lengths_[name];
    }

private:
    static constexpr double UNKNOWN = -1.0;
    Table<double> full_;
    Vector<double> lengths_;
    Vector<std::uint8_t> is_known_;
};

struct Sides {
    Rows<const double> rows;
    // Bounds on the errors of the rows' values: anywhere in the box, and on cones for each coordinate of y.
    View<double> noise;
    Rows<const double> slack;
    PulledRows& pulled;
    // The names of rows, and their signs; without, rows are named by their places.
    View<std::int64_t> names = {};
    View<double> signs = {};

    std::size_t number() const { return rows.size(); }
    View<double> slack_of(std::size_t i) const { return {slack[i], slack.width()}; }
    double noise_of(std::size_t i, const double* y) const { return noise_at(noise[i], slack_of(i), y); }
    PulledRow full(const Frame& frame, std::size_t i) const { return pulled.row(frame, name(i), rows[i], sign(i)); }
    double length(const Frame& frame, std::size_t i) const { return pulled.length(frame, name(i), rows[i], sign(i)); }

private:
    std::size_t name(std::size_t i) const { return names.empty() ? i : static_cast<std::size_t>(names[i]); }
    double sign(std::size_t i) const { return signs.empty() ? 1.0 : signs[i]; }
};

}  // namespace reluscope
