"""Whether linear algebra computes rightly in this process: products of whole numbers exactly, and small residuals.

A program of its own, because a kernel for another processor may end the process.
"""

import numpy as np
import scipy.linalg
import torch

SIZES = (1, 2, 3, 5, 8, 17, 33, 64, 129, 260)


def check_products(generator: np.random.Generator, size: int) -> None:
    """Compare products of whole numbers, whose sums are exact in any order, with those of integers."""
    first, second = generator.integers(-500, 500, (2, size, size))
    expected = np.einsum("ij,jk->ik", first, second)
    a, b = first.astype(float), second.astype(float)
    same(a @ b, expected)
    same(a.T @ b.T, np.einsum("ji,kj->ik", first, second))
    same(np.asfortranarray(a) @ b[:, 0], expected[:, 0])
    same(scipy.linalg.blas.dgemm(1.0, a, b), expected)
    same((torch.from_numpy(a) @ torch.from_numpy(b)).numpy(), expected)
    same(a.T @ a, np.einsum("ji,jk->ik", first, first))
    small = (first % 32).astype(np.float32), (second % 32).astype(np.float32)
    same(small[0] @ small[1], np.einsum("ij,jk->ik", first % 32, second % 32))


def check_residuals(generator: np.random.Generator, size: int) -> None:
    """Look at what is left of an equation when its solution is put in."""
    a, b = generator.normal(size=(size, size)) + 3 * np.eye(size), generator.normal(size=(size, 3))
    gram = a @ a.T + np.eye(size)
    for library in (np.linalg, scipy.linalg):
        near(a @ library.solve(a, b), b)
        u, s, v = library.svd(a)
        near((u * s) @ v, a)
        q, r = library.qr(a)
        near(q @ r, a)
        values, vectors = library.eigh(gram)
        near((vectors * values) @ vectors.T, gram)
        lower = np.linalg.cholesky(gram)
        near(lower @ lower.T, gram)
    values = generator.normal(size=size)
    near(torch.exp(torch.from_numpy(values)).numpy(), np.exp(values))
    near(np.log(np.exp(values)), values)


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Raise where numbers differ at all."""
    if not np.array_equal(got, expected):
        raise ArithmeticError(f"a product of whole numbers is wrong, of size {expected.shape}")


def near(got: np.ndarray, expected: np.ndarray) -> None:
    """Raise where numbers differ by more than rounding."""
    scale = 1 + np.abs(expected).max()
    if not np.abs(got - expected).max() <= 1e-10 * scale * len(expected):
        raise ArithmeticError(f"a residual is too large, of size {expected.shape}")


if __name__ == "__main__":
    for number, count in enumerate(SIZES):
        for check in (check_products, check_residuals):
            check(np.random.default_rng(number), count)
