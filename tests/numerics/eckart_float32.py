"""The loss estimate of compute/certificate and the float32 iteration of compute/cpu, in NumPy."""

import math

import numpy as np
import scipy.linalg as sla

from source import constant

MAX_LOSS_DB = 0.01
NEGLIGIBLE = 0.25
EPSILON = np.finfo(np.float64).eps

ITERATION, CERTIFICATE = "cpu/subspace_iteration.cpp", "certificate.cpp"
DEFAULTS = dict(
    # subspace_columns()
    min_oversampling=constant(ITERATION, "kMinOversampling"), oversampling_divisor=constant(ITERATION, "kOversamplingDivisor"),
    column_multiple=constant("solver_choice.hpp", "kColumnMultiple"),
    cosines=1.0, signs=1.0,  # fill_initial_block()
    shift=constant("cpu/shifted_cholesky_qr.cpp", "kShift"), max_shift=constant("cpu/shifted_cholesky_qr.cpp", "kMaxShift"),
    shift_growth=constant("cpu/shifted_cholesky_qr.cpp", "kShiftGrowth"),
    # cutoff(), degree_for()
    cut=constant(ITERATION, "kCutoffPercent") / 100, min_relative_ritz=constant(ITERATION, "kMinRelativeRitz"), min_cutoff=constant(ITERATION, "kMinCutoff"),
    max_degree=constant(ITERATION, "kMaxDegree"),
    amplifications=constant("cpu/float32_solver.cpp", "kAmplifications"),
    rows_per_chunk=constant(ITERATION, "kRowsPerChunk"),
    ritz_dtype=np.float64,
    # certificate.cpp
    summation=constant("certificate.hpp", "kSummationError"), base_error=constant(CERTIFICATE, "kBaseError"),
    column_error=constant(CERTIFICATE, "kErrorPerColumn"), factor_error=constant(CERTIFICATE, "kFloat32FactorError"),
    min_ratio=constant(CERTIFICATE, "kMinRatio"), max_ratio=float(constant(CERTIFICATE, "kMaxRatio")),
    ritz_rounding=constant(CERTIFICATE, "kRitzRounding"),
    doubling=2.0, mean_factor=2.0, middle=0.5)


def options(**changed):
    return {**DEFAULTS, **changed}


def loss_db(residual, optimum):
    return 10 * math.log10(max(residual, NEGLIGIBLE) / max(optimum, NEGLIGIBLE))


def optimal_errors(a):
    """The optimal squared error of rank 0, 1, ..., n; float64."""
    squares = np.linalg.svd(a, compute_uv=False) ** 2
    return np.append(np.cumsum(squares[::-1])[::-1], 0.0)


# --- compute/certificate.cpp

def factor_rounding(share, residual, norm2):
    return 2 * share * math.sqrt(norm2 * residual) + share * share * norm2


def rounding_error(precision, k, n, residual, norm2, o):
    summation = (o["base_error"] + k * o["column_error"]) * norm2 + o["summation"] * residual
    if precision == "float16":
        return summation
    if precision == "float32":
        return factor_rounding(o["factor_error"], residual, norm2) + summation
    if precision == "float64_gram":
        return n * EPSILON * norm2
    return factor_rounding(n * EPSILON, residual, norm2)


def gap_to_db(residual, gap):
    return -10 * math.log10(1 - gap / residual) if gap < residual else math.inf


def loss_estimate_db(ritz, rayleigh, n, k, residual, norm2, precision, o=DEFAULTS):
    if residual < NEGLIGIBLE:
        return 0.0
    l = len(ritz)
    outside = max(0.0, residual - ritz[k:].sum())
    mean = outside / max(1.0, n - l)
    middle = ritz[min(l - 1, int(k + (l - k) * o["middle"]))] if o["middle"] != 0.5 else ritz[(k + l) // 2]
    mu = max(middle, o["mean_factor"] * mean) if middle >= mean else outside
    missed, excess = 0.0, 0.0
    for theta, rq in zip(ritz[:k], rayleigh[:k]):
        if not (theta > mu and o["min_ratio"] * theta <= rq <= o["max_ratio"] * theta):
            return math.inf
        missed += max(0.0, rq - theta) * mu / (theta - mu)
        excess += theta - rq if theta - rq > o["ritz_rounding"] * theta else 0.0
    return gap_to_db(residual, o["doubling"] * missed + excess + rounding_error(precision, k, n, residual, norm2, o))


def rounding_loss_db(n, k, residual, norm2, precision, o=DEFAULTS):
    if residual < NEGLIGIBLE:
        return 0.0
    return gap_to_db(residual, rounding_error(precision, k, n, residual, norm2, o))


# --- compute/cpu

def subspace_columns(k, o=DEFAULTS):
    wanted = k + max(o["min_oversampling"], int(k / o["oversampling_divisor"]))
    multiple = o["column_multiple"]
    return (wanted + multiple - 1) // multiple * multiple


def initial_block(n, l, o=DEFAULTS):
    """Returns the same bits as fill_initial_block()."""
    raw = np.random.RandomState(1936).randint(0, 1 << 32, size=n * l, dtype=np.uint32)
    signs = np.where(raw & 1, 1.0, -1.0).reshape(l, n).T
    rows, cols = np.arange(n)[:, None], np.arange(l)[None, :]
    cosine = np.float32(math.sqrt(2) * np.cos(np.pi * ((2 * rows + 1) * cols % (4 * n)) / (2 * n)))
    return np.float32(o["cosines"] * cosine + o["signs"] * signs)


class CholeskyBreakdown(Exception):
    """The shift became larger than max_shift."""


def shifted_cholesky_qr(y, o, second=None):
    """compute/cpu/shifted_cholesky_qr.cpp; returns Y R^-1, second R^-1 and diag(R)^2."""
    gram = y.T @ y
    norms = np.sqrt(np.diag(gram))
    scale = np.divide(np.float32(1), norms, out=np.zeros_like(norms), where=norms > 0)
    gram *= scale[:, None] * scale[None, :]
    shift = o["shift"]
    while True:
        np.fill_diagonal(gram, np.float32(1 + shift))
        r, info = sla.lapack.get_lapack_funcs("potrf", (gram,))(gram, lower=0, clean=1)
        if info == 0 and np.isfinite(r).all():
            break
        shift *= o["shift_growth"]
        if shift > o["max_shift"]:
            raise CholeskyBreakdown
    diagonal = np.where(scale > 0, np.diag(r) * norms, 0) ** 2
    inverse = sla.solve_triangular(r, np.eye(len(r), dtype=np.float32)) * scale[:, None]
    return y @ inverse, None if second is None else second @ inverse, diagonal


class SubspaceIteration:
    def __init__(self, a, k, o=DEFAULTS):
        self.a, self.k, self.o = np.float32(a), k, o
        n = a.shape[1]
        self.l = min(n, subspace_columns(k, o))
        q = initial_block(n, self.l, o)
        z, _, _ = shifted_cholesky_qr(self.a @ q, o)
        self.q, _, diagonal = shifted_cholesky_qr(self.a.T @ z, o)
        self.values = np.sort(np.float64(diagonal))[::-1]
        self.degrees = []

    def cutoff(self):
        at = min(self.l - 1, int(self.l * self.o["cut"]))
        return max(self.values[at], self.o["min_relative_ritz"] * self.values[0], self.o["min_cutoff"])

    def apply_filter(self, amplification):
        c = self.cutoff() / 2
        x = max(1.0, self.values[self.k - 1] / c - 1)
        degree = 1
        while degree < self.o["max_degree"] and math.cosh(degree * math.acosh(x)) < amplification:
            degree += 1
        self.degrees.append(degree)
        previous = None
        for i in range(1, degree + 1):
            twice = 1 if i == 1 else 2
            y = -np.float32(twice) * self.q - (0 if i == 1 else previous)
            y = y + np.float32(twice / c) * (self.a.T @ (self.a @ self.q))
            y, scaled_q, _ = shifted_cholesky_qr(y, self.o, self.q if i < degree else None)
            previous, self.q = scaled_q, y

    def factors(self):
        self.q, _, _ = shifted_cholesky_qr(self.q, self.o)
        b = self.a @ self.q
        wide = b.astype(self.o["ritz_dtype"])
        values, vectors = np.linalg.eigh(wide.T @ wide)
        self.values = np.maximum(0.0, np.float64(values[::-1]))
        vectors = vectors[:, ::-1][:, :self.k]
        theta = self.values[:self.k]
        small = theta <= self.o["min_relative_ritz"] * self.values[0]
        weight = np.where(small, 0, 1 / np.sqrt(np.where(small, 1, theta)))
        u = b @ np.float32(vectors * weight)
        v = np.zeros((self.a.shape[1], self.k), np.float32)
        chunk = self.o["rows_per_chunk"]
        for row in range(0, len(u), chunk):
            v += self.a[row:row + chunk].T @ u[row:row + chunk]
        rayleigh = np.einsum("ij,ij->j", v, v, dtype=np.float64)
        return u, v, self.values, rayleigh


def attempts(a, ranks, o=DEFAULTS):
    """Float32Solver::reconstruct: yields (iteration, [(k, residual, estimate, min_estimate)]) for each filter that is tried."""
    norm2, n = float((a * a).sum()), a.shape[1]
    try:
        iteration = SubspaceIteration(a, max(ranks), o)
        for amplification in o["amplifications"]:
            iteration.apply_filter(amplification)
            u, v, ritz, rayleigh = iteration.factors()
            results = []
            for k in ranks:
                values = u[:, :k] @ v[:, :k].T
                residual = float(((np.float64(values) - a) ** 2).sum())
                exact = np.array_equal(np.clip(np.rint(values), 0, 255 if a.max() < 256 else 65535), a)
                if exact and np.isfinite(residual):  # is_exact_reconstruction(): no loss
                    residual = 0.0
                estimate = [loss_estimate_db(ritz, r, n, k, residual, norm2, "float32", o)
                           for r in (rayleigh, ritz)]
                results.append((k, residual, *estimate))
            yield iteration, results
            if all(r[2] <= MAX_LOSS_DB for r in results) or any(r[3] > MAX_LOSS_DB for r in results):
                return
    except (CholeskyBreakdown, np.linalg.LinAlgError):
        return


def solve(a, k, o=DEFAULTS):
    """Returns (residual, estimate, iteration) of the last attempt; None if Cholesky failed."""
    last = None
    for iteration, results in attempts(a, [k], o):
        last = (results[0][1], results[0][2], iteration)
    return last
