// Functions compiled for several widths of registers: processors take the widest they have. Sums in them are written in
// an order that registers of any width can follow, so that all find the same bits.
#pragma once

#include <cstdlib>
#include <cstring>

// The loader chooses before ThreadSanitizer is there, whose calls in the choice would lead nowhere.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("default", "avx2")))
#else
#define WIDE
#endif

// For what is compiled for several kinds of processors by those who call it.
#if defined(__GNUC__)
#define INLINED inline __attribute__((always_inline))
#else
#define INLINED inline
#endif

namespace reluscope {

// Four numbers that are added and multiplied at once, each by itself.
#if defined(__GNUC__)
typedef double Four __attribute__((vector_size(32)));
INLINED void add_times(Four& sums, double factor, const Four& numbers) { sums += factor * numbers; }
#else
struct Four {
    double entries[4];
};
inline void add_times(Four& sums, double factor, const Four& numbers) {
    for (int i = 0; i < 4; ++i) sums.entries[i] += factor * numbers.entries[i];
}
#endif
// Where they are in memory, which is anywhere.
INLINED void read(Four& numbers, const double* place) { std::memcpy(&numbers, place, sizeof numbers); }
INLINED void write(double* place, const Four& numbers) { std::memcpy(place, &numbers, sizeof numbers); }

}  // namespace reluscope
