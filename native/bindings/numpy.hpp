// What kernels take from NumPy and give to it. Kernels run without the interpreter's lock, so that threads that call
// them are parallel; a signal waits until they return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <type_traits>

#include "../kernels/arrays.hpp"
#include "checks.hpp"

namespace reluscope {

namespace nb = nanobind;
using namespace nb::literals;

// Arrays that kernels find places by: another thread that writes to one between the check and the use would send a kernel
// anywhere. They are copied before they are checked, or borrowed by kernels that check each entry as they read it.
template <class T>
inline constexpr bool NAMES_PLACES = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

// An array that kernels read.
template <class T, int Dim, bool IsCopied = NAMES_PLACES<T>> class Given {
public:
    using Array = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

    Given() = default;
    explicit Given(Array array) : array_(std::move(array)) {
        if constexpr (IsCopied) {
            copy_.resize(array_.size());
            if (!copy_.empty()) std::memcpy(copy_.data(), array_.data(), copy_.size() * sizeof(T));
        }
    }
    std::size_t shape(std::size_t axis) const { return array_.shape(axis); }
    const T* data() const {
        if constexpr (IsCopied) return copy_.data();
        expect_aligned<T>(array_.data());
        return array_.data();
    }

private:
    Array array_;
    Vector<T> copy_;
};

template <class T, int Dim> using In = Given<T, Dim>;
template <class T, int Dim> using Borrowed = Given<T, Dim, false>;
// Written in place: such arguments are bound with noconvert(), so that it is never a copy that is written.
template <class T, int Dim> using InOut = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

// Where the entries are.
template <class T, int Dim, bool IsCopied> const T* data_of(const Given<T, Dim, IsCopied>& array) { return array.data(); }
template <class T, class... Of> T* data_of(const nb::ndarray<T, Of...>& array) {
    expect_aligned<T>(array.data());
    return array.data();
}
template <class T, bool IsCopied> View<T> view(const Given<T, 1, IsCopied>& array) { return {array.data(), array.shape(0)}; }
template <class T, bool IsCopied> Rows<const T> rows(const Given<T, 2, IsCopied>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}
template <class T> Rows<T> rows(const InOut<T, 2>& array) { return {data_of(array), array.shape(0), array.shape(1)}; }

inline ListsView lists(const In<std::int64_t, 1>& offsets, const In<std::int32_t, 1>& ids) {
    return {view(offsets), view(ids)};
}

template <class As, class T> nb::object shaped(Vector<T>&& entries, std::initializer_list<std::size_t> shape) {
    static_assert(sizeof(As) == sizeof(T));
    auto* kept = new Vector<T>(std::move(entries));
    nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Vector<T>*>(memory); });
    const nb::object array = nb::cast(nb::ndarray<nb::numpy, As>(reinterpret_cast<As*>(kept->data()), shape, owner));
    // NumPy has two names for whole numbers of 64 bits where a long and a long long are the same.
    if constexpr (std::is_same_v<As, std::int64_t>) return array.attr("view")("int64");
    if constexpr (std::is_same_v<As, std::uint64_t>) return array.attr("view")("uint64");
    return array;
}
template <class T> nb::object give(Vector<T>&& entries) {
    const std::size_t number = entries.size();
    return shaped<T>(std::move(entries), {number});
}
inline nb::object give_flags(Vector<std::uint8_t>&& entries) {
    const std::size_t number = entries.size();
    return shaped<bool>(std::move(entries), {number});
}
template <class T> nb::object give(Table<T>&& table) {
    const std::size_t number = table.size(), width = table.width();
    return shaped<T>(std::move(table.entries()), {number, width});
}
inline nb::tuple give(Lists&& lists) {
    return nb::make_tuple(give(std::move(lists.offsets)), give(std::move(lists.ids)));
}

template <class Kernel> auto unlocked(Kernel kernel) {
    nb::gil_scoped_release released;
    return kernel();
}

void bind_boxes(nb::module_& module);
void bind_codes(nb::module_& module);
void bind_complexes(nb::module_& module);
void bind_partitions(nb::module_& module);
void bind_polytopes(nb::module_& module);
void bind_pictures(nb::module_& module);
void bind_points(nb::module_& module);
void bind_programs(nb::module_& module);

}  // namespace reluscope

namespace nanobind::detail {

template <class T, int Dim, bool IsCopied> struct type_caster<reluscope::Given<T, Dim, IsCopied>> {
    using Array = typename reluscope::Given<T, Dim, IsCopied>::Array;
    using Value = reluscope::Given<T, Dim, IsCopied>;
    static constexpr auto Name = make_caster<Array>::Name;
    template <class> using Cast = Value;
    template <class> static constexpr bool can_cast() { return true; }

    bool from_python(handle source, std::uint8_t flags, cleanup_list* cleanup) noexcept {
        return array.from_python(source, flags, cleanup);
    }
    // Where memory for a copy may be missing, which is an exception.
    explicit operator Value() { return Value(std::move(array.value)); }

    make_caster<Array> array;
};

}  // namespace nanobind::detail
