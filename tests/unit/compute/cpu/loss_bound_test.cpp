#include "compute/cpu/loss_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "compute/cpu/subspace_iteration.hpp"
#include "core/quality.hpp"
#include "synth/synth.hpp"
#include "tests/support/reference_svd.hpp"

namespace eckart::compute::cpu {
namespace {

constexpr int kRows = 150, kCols = 120, kRank = 10, kColumns = 32;

/// An image and its decomposition by a different LAPACK routine.
struct Plane {
  explicit Plane(const Image& image) : svd(test::reference_svd(image, 0)) {
    a_t_nm.assign(svd.a.begin(), svd.a.end());
  }
  double squared_norm() const { return svd.squared_norm(); }
  double optimum(int k) const {
    return std::accumulate(svd.sigma.begin() + k, svd.sigma.end(), 0.0,
                           [](double sum, double value) { return sum + value * value; });
  }
  /// `count` right singular vectors from index `first`, as a basis.
  std::vector<float> right_vectors(int first, int count) const {
    std::vector<float> q_nl;
    for (int i = first; i < first + count; ++i) {
      for (int col = 0; col < svd.cols; ++col)
        q_nl.push_back(float(svd.vt[std::size_t(i) * std::size_t(svd.cols) + std::size_t(col)]));
    }
    return q_nl;
  }

  test::ReferenceSvd svd;
  std::vector<float> a_t_nm;
};

Image make_image(synth::SynthKind kind, double noise = 0) {
  return synth::synthesize(
      {.kind = kind, .rows = kRows, .cols = kCols, .channels = 1, .noise_sigma = noise, .seed = 7});
}

double squared_error(const Plane& plane, const SubspaceIteration::LowRankFactors& factors) {
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      double value = plane.svd.a[std::size_t(row) * kCols + std::size_t(col)];
      for (int i = 0; i < kRank; ++i)
        value -= double(factors.u_mk[std::size_t(i) * kRows + std::size_t(row)]) *
                 double(factors.v_nk[std::size_t(i) * kCols + std::size_t(col)]);
      sum += value * value;
    }
  }
  return sum;
}

double db(double error, double optimum) { return 10 * std::log10(error / optimum); }

TEST(LossBound, bounds_the_loss_of_every_stage_of_the_iteration) {
  for (const synth::SynthKind kind :
       {synth::SynthKind::texture, synth::SynthKind::phantom, synth::SynthKind::noise}) {
    const Plane plane(make_image(kind, kind == synth::SynthKind::noise ? 25 : 2));
    SubspaceIteration iteration;
    LossBound bound;
    iteration.start(plane.a_t_nm, kRows, kCols, kRank, kColumns);
    for (int stage = 0; stage < 3; ++stage) {
      if (stage > 0) iteration.apply_filter(stage == 1 ? 5 : 1000);
      const double error = squared_error(plane, iteration.compute_factors());
      bound.prepare(plane.a_t_nm, iteration.basis(), kRows, kCols, kColumns, kRank,
                    plane.squared_norm());
      const double loss = db(error, plane.optimum(kRank)), proven = bound.loss_db(kRank, error);
      EXPECT_GE(proven, loss - 1e-9) << int(kind) << " stage " << stage;
      if (stage == 2 && kind != synth::SynthKind::noise) {
        EXPECT_LE(proven, kMaxLossDb) << int(kind) << " has lost " << loss << " dB";
      }
    }
  }
}

/// An estimate from inside the subspace cannot detect this.
TEST(LossBound, proves_nothing_without_the_leading_direction) {
  const Plane plane(make_image(synth::SynthKind::texture));
  for (const int first : {1, 5}) {
    LossBound bound;
    bound.prepare(plane.a_t_nm, plane.right_vectors(first, kColumns), kRows, kCols, kColumns, kRank,
                  plane.squared_norm());
    const double error = plane.optimum(first + kRank);
    EXPECT_EQ(bound.loss_db(kRank, error), std::numeric_limits<double>::infinity());
    EXPECT_EQ(bound.converged_loss_db(kRank, error), std::numeric_limits<double>::infinity());
  }
}

/// A small part of the basis points to a direction outside.
TEST(LossBound, grows_with_the_angle_of_the_subspace) {
  const Plane plane(make_image(synth::SynthKind::texture));
  double last = 0;
  for (const double angle : {0.0, 1e-3, 1e-2, 0.1, 0.5}) {
    std::vector<float> q_nl = plane.right_vectors(0, kColumns);
    const std::vector<float> outside = plane.right_vectors(kColumns, 1);
    for (int row = 0; row < kCols; ++row) {
      float& entry = q_nl[std::size_t((kRank - 1) * kCols + row)];
      entry = float(std::cos(angle) * double(entry) +
                    std::sin(angle) * double(outside[std::size_t(row)]));
    }
    LossBound bound;
    bound.prepare(plane.a_t_nm, q_nl, kRows, kCols, kColumns, kRank, plane.squared_norm());
    const double inside = std::pow(plane.svd.sigma[kRank - 1] * std::cos(angle), 2),
                 lost = std::pow(plane.svd.sigma[kRank - 1], 2) - inside;
    const double error = plane.optimum(kRank) + lost, proven = bound.loss_db(kRank, error);
    EXPECT_GE(proven, db(error, plane.optimum(kRank)) - 1e-9) << angle;
    EXPECT_GE(proven, last);
    last = proven;
  }
  EXPECT_GT(last, kMaxLossDb);
}

TEST(LossBound, holds_for_every_rank_up_to_the_largest) {
  const Plane plane(make_image(synth::SynthKind::phantom, 3));
  LossBound bound;
  bound.prepare(plane.a_t_nm, plane.right_vectors(0, kColumns), kRows, kCols, kColumns, kRank,
                plane.squared_norm());
  for (int k = 1; k <= kRank; ++k) {
    EXPECT_LT(bound.loss_db(k, plane.optimum(k)), 1e-3) << k;
    EXPECT_NEAR(bound.loss_db(k, 2 * plane.optimum(k)), db(2, 1), 1e-3) << k;
  }
}

TEST(LossBound, needs_no_probes_where_the_subspace_is_the_whole) {
  const Plane plane(make_image(synth::SynthKind::noise, 25));
  LossBound bound;
  bound.prepare(plane.a_t_nm, plane.right_vectors(0, kCols), kRows, kCols, kCols, kRank,
                plane.squared_norm());
  EXPECT_LT(bound.loss_db(kRank, plane.optimum(kRank)), 1e-3);
}

TEST(LossBound, accepts_a_plane_of_zeros_and_one_of_low_rank) {
  LossBound bound;
  const std::vector<float> basis =
      Plane(make_image(synth::SynthKind::texture)).right_vectors(0, kColumns);
  bound.prepare(std::vector<float>(std::size_t(kRows * kCols)), basis, kRows, kCols, kColumns,
                kRank, 0);
  EXPECT_EQ(bound.loss_db(kRank, 0), std::numeric_limits<double>::infinity());
  const Plane flat(make_image(synth::SynthKind::gradient));
  bound.prepare(flat.a_t_nm, flat.right_vectors(0, kColumns), kRows, kCols, kColumns, kRank,
                flat.squared_norm());
  EXPECT_GE(bound.loss_db(kRank, flat.optimum(kRank) + 1), 0);
}

}  // namespace
}  // namespace eckart::compute::cpu
