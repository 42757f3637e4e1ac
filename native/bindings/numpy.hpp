// What kernels take from NumPy and give to it. Kernels run without the interpreter's lock, so that threads that call
// them are parallel; a signal waits until they return.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <stdexcept>
#include <type_traits>

#include "../kernels/arrays.hpp"

namespace reluscope {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int Dim> using In = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;
// Written in place: such arguments are bound with noconvert(), so that it is never a copy that is written.
template <class T, int Dim> using InOut = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

// Where the entries are. Views of bytes may begin anywhere, numbers may not.
template <class Array> auto* data_of(const Array& array) {
    auto* data = array.data();
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(decltype(*data)) != 0)
        throw std::invalid_argument("expected arrays that begin where numbers may: copy them first");
    return data;
}
template <class T> View<T> view(const In<T, 1>& array) { return {data_of(array), array.shape(0)}; }
template <class T> Rows<const T> rows(const In<T, 2>& array) { return {data_of(array), array.shape(0), array.shape(1)}; }
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
