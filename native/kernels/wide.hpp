// Functions compiled for several widths of registers: processors take the widest they have. Sums in them are written in
// an order that registers of any width can follow, so that all find the same bits.
#pragma once

#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__)
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
