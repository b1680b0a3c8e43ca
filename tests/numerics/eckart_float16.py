"""The float16 iteration of compute/cuda/solvers/subspace, in NumPy: float16 operands, float32 sums."""

import math

import numpy as np

import eckart_float32 as f32
from source import constant

SUBSPACE, SMALL_SVD = "cuda/solvers/subspace.cpp", "cuda/kernels/small_svd.cu"
DEFAULTS = dict(
    f32.DEFAULTS, min_oversampling=constant("cuda/plan/subspace_columns.cpp", "kMinOversampling"), iterations=4,
    shift=constant(SUBSPACE, "kShift"), min_pivot=constant(SUBSPACE, "kMinPivot"),
    final_shift=constant(SUBSPACE, "kFinalShift"), final_min_pivot=constant(SUBSPACE, "kFinalMinPivot"),
    max_entry=float(constant("cuda/kernels/orthonormalizer.cu", "kMaxEntry")),
    cholesky_tolerance=constant("cuda/kernels/inverse_cholesky.cu", "kFloat32Tolerance"),
    ill_conditioned=constant(SMALL_SVD, "kIllConditionedShare"), negligible=constant(SMALL_SVD, "kNegligible"),
    split_q=True, split_factors=True, both_sides=True)


def half(x):
    return np.float32(np.float16(x))


def split(x):
    x = np.float32(x)
    hi = half(x)
    return hi, half(x - hi)


def column_scale(rows):
    return np.float32(2.0 ** math.floor(0.5 * math.log2(rows)))


def product_scale(inner):
    return np.float32(256.0 / max(256, 1 << (inner - 1).bit_length()))


def power_below(x):
    return np.float32(2.0 ** np.floor(np.log2(np.where(x > 0, x, 1))))


def cholesky(s, min_pivot):
    """Returns R and R^-1. A pivot of at most min_pivot gives a row and a column of zeros."""
    w, l = s.copy(), len(s)
    r = np.zeros_like(w)
    for j in range(l):
        if w[j, j] > min_pivot:
            r[j, j:] = w[j, j:] / np.sqrt(w[j, j])
            w[j + 1:, j + 1:] -= np.outer(r[j, j + 1:], r[j, j + 1:])
    kept = np.flatnonzero(np.diag(r) > 0)
    inverse = np.zeros_like(w)
    inverse[np.ix_(kept, kept)] = np.linalg.inv(r[np.ix_(kept, kept)])
    return r, np.triu(inverse)


def orthonormalizer(product, shift, min_pivot, o):
    """Returns M = diag(1 / power) (hi + lo), as the kernel does, without columns that have entries above max_entry."""
    s = product.T @ product
    norm = np.sqrt(np.maximum(np.diag(s), 0))
    inverse_norm = np.divide(np.float32(1), norm, out=np.zeros_like(norm), where=norm > 0)
    s = s * inverse_norm[:, None] * inverse_norm[None, :]
    np.fill_diagonal(s, np.float32(1 + shift))
    _, inverse = cholesky(s, np.float32(min_pivot))
    power = power_below(norm)
    m = inverse * (power * inverse_norm)[:, None]
    dropped = ~(np.abs(m) <= o["max_entry"]).all(0)
    m[:, dropped] = 0
    hi, lo = split(m)
    return hi + lo, power, int(dropped.sum())


def solve(a, k, o=DEFAULTS):
    """Returns (residual, estimate, facts) of 8-bit samples."""
    a = np.float32(a)
    m, n = a.shape
    l = min(n, f32.subspace_columns(k, o))
    q = np.where(np.random.RandomState(1936).randint(0, 2, (l, n)) > 0, 1, -1).T.astype(np.float32)
    q_lo, dropped = np.zeros_like(q), 0
    for i in range(o["iterations"]):
        last = i + 1 == o["iterations"]
        z = half(product_scale(n) * (a @ q))
        if o["both_sides"]:
            matrix, power, d = orthonormalizer(z, o["shift"], o["min_pivot"], o)
            z, dropped = half(half(z * (column_scale(m) / power)) @ matrix), dropped + d
        else:
            z = half(z / np.maximum(np.abs(z).max(0), 1e-20))
        y = half(product_scale(m) * (a.T @ z))
        matrix, power, d = orthonormalizer(
            y, *((o["final_shift"], o["final_min_pivot"]) if last else (o["shift"], o["min_pivot"])), o)
        y, dropped = half(y * (column_scale(n) / power)) @ matrix, dropped + d
        q, q_lo = split(y)
        if not (last and o["split_q"]):
            q_lo = np.zeros_like(q)
    b = (a @ q + a @ q_lo) / column_scale(n)
    s = np.float64(b).T @ np.float64(b)
    norm = np.sqrt(np.diag(s))
    unit = np.divide(1, norm, out=np.zeros_like(norm), where=norm > 0)
    s = s * unit[:, None] * unit[None, :]
    np.fill_diagonal(s, 1.0)
    r, inverse = cholesky(s, o["cholesky_tolerance"])
    r, inverse = np.float32(r * norm[None, :]), np.float32(inverse * unit[:, None])
    columns = np.maximum((np.float64(r) ** 2).sum(0), 1e-300)
    ill = bool(((np.diag(r) > 0) & (np.float64(np.diag(r)) ** 2 < o["ill_conditioned"] * columns)).any())
    left, sigma, _ = np.linalg.svd(np.float64(r))  # Jacobi has a small relative error, unlike LAPACK in float32
    sigma2 = np.float64(np.float32(sigma ** 2))
    is_significant = sigma2[:k] > o["negligible"] * sigma2.sum()
    power = power_below(np.float32(np.sqrt(columns)))
    weights = np.float32(inverse @ np.float32(left[:, :k])) * power[:, None]
    weights = np.where(is_significant, weights, np.float32(0))
    w_hi, w_lo = split(weights)
    b_hi, b_lo = split(b * (column_scale(m) / power))
    u = b_hi @ w_hi + b_hi @ w_lo + b_lo @ w_hi
    u_hi, u_lo = split(u)
    if ill:
        u = (u_hi + u_lo).astype(np.float64)
        e = u.T @ u / float(column_scale(m)) ** 2 - np.eye(k)
        zero = np.diag(e) < -0.5
        e[zero, zero] = 0
        u_hi, u_lo = split(np.float32(u) @ np.float32(np.eye(k) - np.triu(e, 1) - np.diag(np.diag(e)) / 2))
    if not o["split_factors"]:
        u_lo = np.zeros_like(u_lo)
    v = np.zeros((n, k), np.float32)
    for row in range(0, m, 32):
        v += a[row:row + 32].T @ u_lo[row:row + 32] + a[row:row + 32].T @ u_hi[row:row + 32]
    v /= column_scale(m)
    rayleigh = (np.float64(v) ** 2).sum(0)
    v_hi, v_lo = split(v)
    if not o["split_factors"]:
        v_lo = np.zeros_like(v_lo)
    # The reconstruction, in three products and with its scale.
    values = (u_lo @ v_hi.T + u_hi @ v_lo.T + u_hi @ v_hi.T) / column_scale(m)
    residual = float(((np.float64(values) - a) ** 2).sum())
    estimate = f32.loss_estimate_db(sigma2, rayleigh, n, k, residual, float((np.float64(a) ** 2).sum()), "float16", o)
    return residual, estimate, dict(ill=ill, dropped=dropped, columns=l)
