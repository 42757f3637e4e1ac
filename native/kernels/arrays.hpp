// Arrays as kernels see them: rows of one length, read where they lie or made anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace reluscope {

// Windows' own headers have a macro of this name.
#undef INFINITE
inline constexpr double INFINITE = std::numeric_limits<double>::infinity();
inline constexpr std::int32_t NONE = -1;

// Memory that is written before it is read need not be cleared.
template <class T> struct Uncleared : std::allocator<T> {
    Uncleared() = default;
    // Standard libraries may keep things of their own with it.
    template <class U> Uncleared(const Uncleared<U>&) noexcept {}
    template <class U> struct rebind {
        using other = Uncleared<U>;
    };
    template <class U> void construct(U* place) { ::new (static_cast<void*>(place)) U; }
    template <class U, class... Rest> void construct(U* place, Rest&&... rest) {
        ::new (static_cast<void*>(place)) U(std::forward<Rest>(rest)...);
    }
};

template <class T> using Vector = std::vector<T, Uncleared<T>>;
template <class T> using View = std::span<const T>;

// Somebody else's rows.
template <class T> class Rows {
public:
    Rows(T* data, std::size_t number, std::size_t width) : data_(data), number_(number), width_(width) {}
    T* operator[](std::size_t row) const { return data_ + row * width_; }
    std::size_t size() const { return number_; }
    std::size_t width() const { return width_; }
    T* data() const { return data_; }

private:
    T* data_;
    std::size_t number_, width_;
};

// Rows of its own, of which more can be had.
template <class T> class Table {
public:
    Table() = default;
    Table(std::size_t number, std::size_t width) : width_(width), number_(number), entries_(product(number, width)) {}
    Table(std::size_t number, std::size_t width, T value)
        : width_(width), number_(number), entries_(product(number, width), value) {}
    explicit Table(Rows<const T> rows)
        : width_(rows.width()), number_(rows.size()), entries_(rows.data(), rows.data() + rows.size() * rows.width()) {}
    T* operator[](std::size_t row) { return entries_.data() + row * width_; }
    const T* operator[](std::size_t row) const { return entries_.data() + row * width_; }
    std::size_t size() const { return number_; }
    std::size_t width() const { return width_; }
    void resize(std::size_t number) {
        entries_.resize(number * width_);
        number_ = number;
    }
    void reserve(std::size_t number) { entries_.reserve(product(number, width_)); }
    T* add() {
        resize(number_ + 1);
        return (*this)[number_ - 1];
    }
    Vector<T>& entries() { return entries_; }

private:
    static std::size_t product(std::size_t number, std::size_t width) {
        if (width && number > std::numeric_limits<std::size_t>::max() / width) throw std::bad_alloc();
        return number * width;
    }

    std::size_t width_ = 0, number_ = 0;
    Vector<T> entries_;
};

// Lists of whole numbers back to back: list f is ids[offsets[f] : offsets[f + 1]].
struct Lists {
    Vector<std::int64_t> offsets;
    Vector<std::int32_t> ids;
};

struct ListsView {
    View<std::int64_t> offsets;
    View<std::int32_t> ids;
    std::size_t size() const { return offsets.size() - 1; }
    View<std::int32_t> operator[](std::size_t list) const {
        return ids.subspan(offsets[list], offsets[list + 1] - offsets[list]);
    }
};

}  // namespace reluscope
