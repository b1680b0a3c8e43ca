"""The loss bound of compute/norm_bound and compute/cpu/loss_bound in NumPy, with other probe vectors."""

import math

import numpy as np

from eckart_float32 import EPSILON
from source import constant

BOUND, CERTIFICATE = "cpu/loss_bound.cpp", "certificate.hpp"
DEFAULTS = dict(
    vectors=constant("norm_bound.hpp", "kProbeVectors"), alpha=float(constant("norm_bound.cpp", "kAlpha")),
    max_degree=constant("norm_bound.hpp", "kMaxProbeDegree"), small=constant(BOUND, "kSmallComplement"),
    products=float(constant(BOUND, "kProductRounding")), orthogonality=float(constant(BOUND, "kOrthogonalityRounding")),
    backward=float(constant(CERTIFICATE, "kBackwardError")), split=constant(BOUND, "kResidualSplit"),
    summation=constant(CERTIFICATE, "kSummationError"), slack=round(constant("norm_bound.cpp", "kRoundingSlack") - 1, 12),
    min_cutoff=constant(BOUND, "kMinRelativeCutoff"), min_cutoff_in_rounding=constant(BOUND, "kMinCutoffInRounding"))


def squared_norm_bound(largest, degree, cutoff, o=DEFAULTS):
    bound = o["alpha"] ** 2 * 2 / math.pi * largest * (1 + o["slack"])
    if degree == 0:
        return bound
    target = math.log(max(bound / cutoff, 1.0))

    def log_amplification(x):
        angle = degree * math.acosh(2 * x - 1)
        return math.log(x) + 2 * (angle + math.log1p(math.exp(-2 * angle)) - math.log(2))

    low, high = 1.0, math.exp(target)
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if log_amplification(middle) <= target else (low, middle)
    return high * cutoff


class LossBound:
    def __init__(self, a, q, rank, o=DEFAULTS, omega=None, seed=2011):
        self.o, (m, n), l = o, a.shape, q.shape[1]
        self.norm2 = float((a * a).sum())
        self.products = o["products"] * (m + n) * np.sqrt(l) * EPSILON * self.norm2
        self.rounding = self.products + (o["orthogonality"] * (n * l + l * l) + o["backward"] * rank * l) * EPSILON * self.norm2
        q = np.float64(q)
        q = np.linalg.solve(np.linalg.cholesky(q.T @ q), q.T).T
        self.q, b = q, a @ q
        self.t = b.T @ b
        self.theta = np.linalg.eigvalsh(self.t)[::-1]
        w = a.T @ b
        w -= q @ (q.T @ w)
        self.g = w.T @ w
        outside = max(0.0, self.norm2 - self.theta.sum())
        self.mu, self.degree = (0.0 if l == n else outside) + self.rounding, -1
        cutoff = max(self.theta[-1], o["min_cutoff"] * self.theta[0], self.rounding * o["min_cutoff_in_rounding"])
        if omega is None:
            omega = np.random.default_rng(seed).standard_normal((n, o["vectors"]))
        probe, previous = omega - q @ (q.T @ omega), None
        for degree in range(o["max_degree"] + 1):
            if self.mu <= o["small"] * self.theta[rank - 1]:
                break
            self.degree = degree
            image = a @ probe
            largest = float((image ** 2).sum(0).max())
            self.mu = min(self.mu, squared_norm_bound(largest, degree, cutoff, o) + self.rounding)
            twice = 1 if degree == 0 else 2
            following = 2 * twice / cutoff * (a.T @ image) - twice * probe - (0 if previous is None else previous)
            previous, probe = probe, following - q @ (q.T @ following)

    def loss_db(self, k, residual, converged=False, mu=None):
        gap = self.theta[k - 1] - self.rounding - (self.mu if mu is None else mu)
        if not gap > 0:
            return math.inf
        share, split = (0 if converged else 1), self.o["split"]
        values = np.linalg.eigvalsh(self.t + share * (1 + split) / gap * self.g)[::-1]
        optimum = self.norm2 - values[:k].sum() - self.rounding - share * k * (1 + 1 / split) * self.products ** 2 / gap
        if not optimum > 0:
            return math.inf
        return max(0.0, 10 * math.log10(residual * (1 + self.o["summation"]) / optimum))
