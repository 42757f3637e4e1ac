// Products of BLAS whose sums are taken in other orders, one for each entry: what no caller may rely on.
// Loaded before NumPy, SciPy and torch (LD_PRELOAD), it stands in for the products that they call by name.
#include <cmath>
#include <cstdint>

namespace {

// Adds backwards, forwards with fused multiplications, or in four lanes, as the place of the entry says.
template <class T> T product(const T* a, int64_t along_a, const T* b, int64_t along_b, int64_t number, int64_t place) {
    T sum = 0;
    if (number > 64 || place % 3 == 2) {
        T lanes[4] = {0, 0, 0, 0};
        int64_t k = 0;
        for (; k + 4 <= number; k += 4)
            for (int64_t lane = 0; lane < 4; ++lane)
                lanes[lane] += a[(k + lane) * along_a] * b[(k + lane) * along_b];
        for (; k < number; ++k) lanes[3] += a[k * along_a] * b[k * along_b];
        return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
    if (place % 3 == 0)
        for (int64_t k = number; k-- > 0;) sum += a[k * along_a] * b[k * along_b];
    else
        for (int64_t k = 0; k < number; ++k) sum = std::fma(a[k * along_a], b[k * along_b], sum);
    return sum;
}

bool turned(char trans) { return trans == 't' || trans == 'T' || trans == 'c' || trans == 'C'; }

// Column by column, as in Fortran.
template <class T>
void gemm(bool turn_a, bool turn_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, T beta, T* c, int64_t ldc, int part = 0) {
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = part > 0 ? j : 0; i < (part < 0 ? j + 1 : m); ++i) {
            const T* row = turn_a ? a + i * lda : a + i;
            const T* column = turn_b ? b + j : b + j * ldb;
            T sum = alpha * product(row, turn_a ? 1 : lda, column, turn_b ? ldb : 1, k, i + 2 * j + m + n);
            T& entry = c[i + j * ldc];
            entry = beta == 0 ? sum : sum + beta * entry;
        }
}

template <class T>
void gemv(bool turn, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* x, int64_t incx, T beta, T* y,
          int64_t incy) {
    int64_t rows = turn ? n : m, along = turn ? m : n;
    if (incx < 0) x -= (along - 1) * incx;
    if (incy < 0) y -= (rows - 1) * incy;
    for (int64_t i = 0; i < rows; ++i) {
        T sum = alpha * product(turn ? a + i * lda : a + i, turn ? int64_t(1) : lda, x, incx, along, i + rows);
        y[i * incy] = beta == 0 ? sum : sum + beta * y[i * incy];
    }
}

template <class T> T dot(int64_t n, const T* x, int64_t incx, const T* y, int64_t incy) {
    if (incx < 0) x -= (n - 1) * incx;
    if (incy < 0) y -= (n - 1) * incy;
    return product(x, incx, y, incy, n, n);
}

enum { ROW_MAJOR = 101, NO_TRANS = 111, UPPER = 121 };

}  // namespace

#define NAMED_BY_C(T, L, PRE, POST, I)                                                                                 \
    extern "C" void PRE##cblas_##L##gemm##POST(int order, int ta, int tb, I m, I n, I k, T alpha, const T* a, I lda,   \
                                               const T* b, I ldb, T beta, T* c, I ldc) {                               \
        if (order == ROW_MAJOR)                                                                                        \
            gemm<T>(tb != NO_TRANS, ta != NO_TRANS, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);                     \
        else                                                                                                           \
            gemm<T>(ta != NO_TRANS, tb != NO_TRANS, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                     \
    }                                                                                                                  \
    extern "C" void PRE##cblas_##L##syrk##POST(int order, int uplo, int trans, I n, I k, T alpha, const T* a, I lda,   \
                                               T beta, T* c, I ldc) {                                                  \
        bool turn = (trans != NO_TRANS) != (order == ROW_MAJOR), upper = (uplo == UPPER) != (order == ROW_MAJOR);      \
        gemm<T>(turn, !turn, n, n, k, alpha, a, lda, a, lda, beta, c, ldc, upper ? -1 : 1);                            \
    }                                                                                                                  \
    extern "C" void PRE##cblas_##L##gemv##POST(int order, int trans, I m, I n, T alpha, const T* a, I lda, const T* x, \
                                               I incx, T beta, T* y, I incy) {                                         \
        bool turn = trans != NO_TRANS;                                                                                 \
        if (order == ROW_MAJOR)                                                                                        \
            gemv<T>(!turn, n, m, alpha, a, lda, x, incx, beta, y, incy);                                               \
        else                                                                                                           \
            gemv<T>(turn, m, n, alpha, a, lda, x, incx, beta, y, incy);                                                \
    }                                                                                                                  \
    extern "C" T PRE##cblas_##L##dot##POST(I n, const T* x, I incx, const T* y, I incy) {                              \
        return dot<T>(n, x, incx, y, incy);                                                                            \
    }

#define NAMED_BY_FORTRAN(T, L, PRE, I)                                                                                 \
    extern "C" void PRE##L##gemm_(const char* ta, const char* tb, const I* m, const I* n, const I* k, const T* alpha,  \
                                  const T* a, const I* lda, const T* b, const I* ldb, const T* beta, T* c,             \
                                  const I* ldc) {                                                                      \
        gemm<T>(turned(*ta), turned(*tb), *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                       \
    }                                                                                                                  \
    extern "C" void PRE##L##gemv_(const char* trans, const I* m, const I* n, const T* alpha, const T* a, const I* lda, \
                                  const T* x, const I* incx, const T* beta, T* y, const I* incy) {                     \
        gemv<T>(turned(*trans), *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                   \
    }                                                                                                                  \
    extern "C" T PRE##L##dot_(const I* n, const T* x, const I* incx, const T* y, const I* incy) {                      \
        return dot<T>(*n, x, *incx, y, *incy);                                                                         \
    }

NAMED_BY_C(double, d, scipy_, 64_, int64_t)   // NumPy
NAMED_BY_C(float, s, scipy_, 64_, int64_t)
NAMED_BY_FORTRAN(double, d, scipy_, int)      // SciPy
NAMED_BY_FORTRAN(float, s, scipy_, int)
NAMED_BY_FORTRAN(double, d, , int)            // torch
NAMED_BY_FORTRAN(float, s, , int)
