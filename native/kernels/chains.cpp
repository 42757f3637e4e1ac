#include "chains.hpp"

#include <bit>

namespace reluscope {
namespace {

// A set of rows, of which the largest is found at once: every word of a level says which words below it are not empty.
class RowSet {
public:
    explicit RowSet(std::size_t num_rows) {
        do {
            num_rows = (num_rows + 63) / 64;
            levels_.emplace_back(num_rows, 0);
        } while (num_rows > 1);
    }
    void toggle(std::size_t row) {
        for (auto& level : levels_) {
            std::uint64_t& word = level[row / 64];
            const bool was_empty = !word;
            word ^= std::uint64_t{1} << (row % 64);
            // Above, a bit changes only if the word has become empty, or is so no longer.
            if (!was_empty && word) return;
            row /= 64;
        }
    }
    bool is_empty() const { return !levels_.back().front(); }
    std::size_t largest() const {
        std::size_t row = 0;
        for (std::size_t level = levels_.size(); level-- > 0;)
            row = 64 * row + static_cast<std::size_t>(63 - std::countl_zero(levels_[level][row]));
        return row;
    }

private:
    std::vector<Vector<std::uint64_t>> levels_;
};

}  // namespace

Vector<std::int64_t> reduce_columns(ListsView columns, std::size_t num_rows, View<bool> is_cleared) {
    Vector<std::int64_t> pivots(num_rows, NONE);
    if (!num_rows) return pivots;
    // Reduced columns by their lowest entry.
    std::vector<Vector<std::int32_t>> reduced(num_rows);
    RowSet column(num_rows);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (is_cleared[c]) continue;
        for (const auto row : columns[c]) column.toggle(static_cast<std::size_t>(row));
        while (!column.is_empty()) {
            const std::size_t low = column.largest();
            if (pivots[low] != NONE) {
                for (const auto row : reduced[low]) column.toggle(static_cast<std::size_t>(row));
                continue;
            }
            pivots[low] = static_cast<std::int64_t>(c);
            for (; !column.is_empty(); column.toggle(static_cast<std::size_t>(reduced[low].back())))
                reduced[low].push_back(static_cast<std::int32_t>(column.largest()));
        }
    }
    return pivots;
}

}  // namespace reluscope
