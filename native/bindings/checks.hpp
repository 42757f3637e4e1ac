// What is asked of arguments before a kernel reads or writes where they say: shapes that belong together, and indices
// that are in range. Kernels themselves ask nothing.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "../kernels/arrays.hpp"

namespace reluscope {

inline void expect(bool is_so, const char* what) {
    if (!is_so) throw std::invalid_argument(what);
}

// Where the entries of an array are. Views of bytes may begin anywhere, numbers may not.
template <class T> void expect_aligned(const T* data) {
    expect(reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0,
           "expected arrays that begin where numbers may: copy them first");
}

// As many threads as are asked for, within reason: each takes memory, and a system gives so many alone.
constexpr std::size_t MOST_THREADS = 256;
inline std::size_t threads_of(std::size_t asked) {
    expect(asked > 0, "expected a thread");
    return std::min(asked, MOST_THREADS);
}

// Whether all entries are 0 or more, and below an end. Without a branch: all are looked at, several at a time.
template <class T> bool are_below(View<T> entries, std::size_t end) {
    std::uint64_t is_out = 0;
    for (const T entry : entries) is_out |= entry < 0 || static_cast<std::uint64_t>(entry) >= end;
    return !is_out;
}
template <class T> View<T> entries_of(Rows<const T> rows) { return {rows.data(), rows.size() * rows.width()}; }

// Whether lists back to back are within so many entries.
inline bool are_offsets(View<std::int64_t> offsets, std::size_t number) {
    return !offsets.empty() && offsets.front() >= 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
           offsets.back() <= static_cast<std::int64_t>(number);
}

// Lists of whole numbers below an end.
inline void expect_lists(const ListsView& lists, std::size_t end) {
    expect(are_offsets(lists.offsets, lists.ids.size()), "expected offsets in ascending order, of lists within the ids");
    expect(are_below(lists.ids, end), "expected ids in range");
}
inline void expect_lists_of_some(const ListsView& lists, std::size_t end) {
    expect_lists(lists, end);
    const auto& offsets = lists.offsets;
    expect(std::adjacent_find(offsets.begin(), offsets.end()) == offsets.end(), "expected lists of at least one id");
}

// Lists by their starts and lengths, anywhere within a pool.
inline void expect_ranges(View<std::int32_t> start, View<std::int32_t> count, View<std::int32_t> pool) {
    bool is_out = start.size() != count.size();
    for (std::size_t i = 0; i < std::min(start.size(), count.size()); ++i)
        is_out |= start[i] < 0 || count[i] < 0 ||
                  static_cast<std::size_t>(start[i]) + static_cast<std::size_t>(count[i]) > pool.size();
    expect(!is_out, "expected starts and lengths of lists within the pool");
}

}  // namespace reluscope
