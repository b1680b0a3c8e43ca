#include "compute/cpu/adaptive_rank_solver.hpp"

#include <algorithm>
#include <cstdint>

#include "compute/rank_estimate.hpp"
#include "core/error.hpp"

namespace eckart::compute::cpu {
namespace {

// The iteration starts with this rank, or a share of the columns if that is more.
constexpr int kMinFirstRank = 16;
constexpr int kFirstRankDivisor = 16;
// Where more are needed, it starts again with the estimated rank, but with at least and at most
// this much more.
constexpr double kMinGrowth = 1.25;
constexpr double kMaxGrowth = 4;
// The refined values are larger than the estimates, so that other ranks may be chosen than those
// estimated: up to an eighth more, but at least this many more.
constexpr int kMinMargin = 4;
constexpr int kMarginDivisor = 8;

/// Chooses the ranks of all outputs from the spectra of the planes. Returns whether these have
/// enough values. If not, `needs_more` tells of which planes.
bool choose_all(std::span<const PlaneSpectrum> spectra, std::span<const RankRule> rules,
                std::vector<std::vector<int>>& ranks, std::vector<bool>& needs_more) {
  bool is_enough = true;
  ranks.assign(rules.size(), std::vector<int>(spectra.size()));
  needs_more.assign(spectra.size(), false);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (choose_ranks(rules[i], spectra.data(), int(spectra.size()), ranks[i].data())) continue;
    is_enough = false;
    for (std::size_t c = 0; c < spectra.size(); ++c) {
      if (ranks[i][c] >= spectra[c].count && !spectra[c].is_complete()) needs_more[c] = true;
    }
  }
  return is_enough;
}

template <class T>
void set_ranks(std::span<PlaneTask<T>> planes, const std::vector<std::vector<int>>& ranks) {
  for (std::size_t c = 0; c < planes.size(); ++c) {
    for (std::size_t i = 0; i < ranks.size(); ++i) planes[c].outputs[i].rank = ranks[i][c];
  }
}

}  // namespace

AdaptiveRankSolver::AdaptiveRankSolver(SolverKind solver, Certificate certificate,
                                       SolverChooser& chooser, Float32Workspace& float32_workspace,
                                       Float64Workspace& float64_workspace)
    : solver_(solver),
      certificate_(certificate),
      chooser_(chooser),
      float32_workspace_(float32_workspace),
      float64_workspace_(float64_workspace) {}

template <class T>
void AdaptiveRankSolver::reconstruct(std::span<PlaneTask<T>> planes,
                                     std::span<const RankRule> rules,
                                     std::span<std::vector<double>> spectra) {
  const bool may_iterate =
      is_iterative(solver_) && spectra.empty() &&
      std::ranges::none_of(rules, needs_full_spectrum, &RankRule::kind) &&
      std::ranges::all_of(planes, [](const auto& plane) { return plane.factors == nullptr; });
  const Float32Result in_float32 =
      may_iterate ? reconstruct_in_float32(planes, rules) : Float32Result::not_chosen;
  if (in_float32 == Float32Result::certified)
    return record_solver(std::span<const PlaneTask<T>>(planes), SolverKind::subspace);
  const SolverKind in_float64 = is_iterative(solver_) ? SolverKind::gram : solver_;
  const bool is_resolved = reconstruct_in_float64(in_float64, planes, rules, spectra);
  const bool is_uncertified =
      !is_resolved ||
      (is_iterative(solver_) && !are_certified(std::span<const PlaneTask<T>>(planes)));
  if (is_uncertified)  // errors below the resolution of A'A
    reconstruct_in_float64(SolverKind::gesvd, planes, rules, spectra);
  const bool began_with_subspace = in_float32 == Float32Result::uncertified;
  record_solver(std::span<const PlaneTask<T>>(planes),
                began_with_subspace ? SolverKind::subspace : in_float64);
  for (PlaneTask<T>& plane : planes) {
    for (auto& output : plane.outputs)
      output.result->is_recomputed = is_uncertified || began_with_subspace;
  }
}

template <class T>
AdaptiveRankSolver::Float32Result AdaptiveRankSolver::reconstruct_in_float32(
    std::span<PlaneTask<T>> planes, std::span<const RankRule> rules) {
  while (float32_.size() < planes.size()) float32_.emplace_back(certificate_, float32_workspace_);
  try {
    if (!find_ranks(std::span<const PlaneTask<T>>(planes), rules)) return Float32Result::not_chosen;
    return refine_until_certified(planes, rules) ? Float32Result::certified
                                                 : Float32Result::uncertified;
  } catch (const ItemError&) {  // float64 may still converge
    return Float32Result::uncertified;
  }
}

/// Starts the iteration of every plane with enough columns for all rules. Returns false if float64
/// is faster.
template <class T>
bool AdaptiveRankSolver::find_ranks(std::span<const PlaneTask<T>> planes,
                                    std::span<const RankRule> rules) {
  const int m = planes[0].a_mn.rows, n = planes[0].a_mn.cols;
  std::vector<PlaneSpectrum> spectra(planes.size());
  std::vector<std::vector<int>> ranks;
  std::vector<bool> needs_start(planes.size(), true);
  max_ranks_.assign(planes.size(), std::min(n, std::max(kMinFirstRank, n / kFirstRankDivisor)));
  for (std::size_t c = 0; c < planes.size(); ++c) float32_[c].load(planes[c]);
  for (;;) {
    for (std::size_t c = 0; c < planes.size(); ++c) {
      if (!needs_start[c]) continue;
      throw_if_stopped();
      const int rank = max_ranks_[c];
      if (chooser_.estimate({{m, n}, rank, subspace_columns(rank), 1}) != SolverKind::subspace)
        return false;
      float32_[c].start(rank);
      spectra[c] = float32_[c].estimated_spectrum();
    }
    if (choose_all(spectra, rules, ranks, needs_start)) break;
    if (std::ranges::find(needs_start, true) == needs_start.end())
      return false;  // float32 does not resolve the values
    int estimate = 1;
    for (const RankRule& rule : rules) estimate = std::max(estimate, estimate_rank(rule, spectra));
    const int wanted = rank_to_cover(estimate, n);
    for (std::size_t c = 0; c < planes.size(); ++c) {
      if (!needs_start[c]) continue;
      const int least = int(kMinGrowth * max_ranks_[c]), most = int(kMaxGrowth * max_ranks_[c]);
      max_ranks_[c] = std::min(n, std::clamp(wanted, least, most));
    }
  }
  for (std::size_t c = 0; c < planes.size(); ++c) {
    int largest = 1;
    for (const std::vector<int>& of_output : ranks) largest = std::max(largest, of_output[c]);
    const int rank =
        std::min(max_ranks_[c], largest + std::max(kMinMargin, largest / kMarginDivisor));
    // Another start costs less than rounds with columns that are not needed.
    if (subspace_columns(rank) < subspace_columns(max_ranks_[c])) float32_[c].start(rank);
    max_ranks_[c] = rank;
  }
  return true;
}

/// Refines the planes until all outputs are certified. Returns false if they cannot be.
template <class T>
bool AdaptiveRankSolver::refine_until_certified(std::span<PlaneTask<T>> planes,
                                                std::span<const RankRule> rules) {
  std::vector<PlaneSpectrum> spectra(planes.size());
  std::vector<std::vector<int>> ranks;
  std::vector<bool> needs_round(planes.size(), true), needs_more;
  for (int round = 0; round < Float32Solver::kRounds; ++round) {
    for (std::size_t c = 0; c < planes.size(); ++c) {
      if (!needs_round[c]) continue;
      throw_if_stopped();
      float32_[c].refine(round, max_ranks_[c]);
      spectra[c] = float32_[c].spectrum();
    }
    if (!choose_all(spectra, rules, ranks, needs_more)) return false;
    set_ranks(planes, ranks);
    bool is_done = true;
    for (std::size_t c = 0; c < planes.size(); ++c) {
      const auto certification = float32_[c].certify(planes[c]);
      if (certification == Float32Solver::Certification::uncertifiable) return false;
      needs_round[c] = certification == Float32Solver::Certification::uncertified;
      is_done = is_done && !needs_round[c];
    }
    if (is_done) return true;
  }
  return false;
}

template <class T>
bool AdaptiveRankSolver::reconstruct_in_float64(SolverKind kind, std::span<PlaneTask<T>> planes,
                                                std::span<const RankRule> rules,
                                                std::span<std::vector<double>> spectra) {
  if (!float64_.empty() && float64_.front().kind() != kind) float64_.clear();
  while (float64_.size() < planes.size()) float64_.emplace_back(kind, float64_workspace_);
  std::vector<PlaneSpectrum> squares;
  for (std::size_t c = 0; c < planes.size(); ++c) {
    throw_if_stopped();
    float64_[c].load(planes[c]);
    float64_[c].decompose();
    squares.push_back(float64_[c].spectrum());
  }
  for (std::size_t c = 0; c < spectra.size(); ++c) spectra[c] = singular_values(squares[c]);
  std::vector<std::vector<int>> ranks;
  std::vector<bool> needs_more;
  const bool is_resolved = choose_all(squares, rules, ranks, needs_more);
  set_ranks(planes, ranks);
  for (std::size_t c = 0; c < planes.size(); ++c) {
    throw_if_stopped();
    if (planes.size() > 1) float64_[c].load(planes[c]);
    float64_[c].reconstruct(planes[c]);
  }
  return is_resolved;
}

template <class T>
bool AdaptiveRankSolver::are_certified(std::span<const PlaneTask<T>> planes) const {
  return std::ranges::all_of(planes, [this](const PlaneTask<T>& plane) {
    return std::ranges::all_of(plane.outputs, [this](const auto& output) {
      return output.result->is_certified(certificate_);
    });
  });
}

/// Records the solver that was used first, with the largest rank that it came to.
template <class T>
void AdaptiveRankSolver::record_solver(std::span<const PlaneTask<T>> planes, SolverKind used) {
  int rank = 1;
  for (const PlaneTask<T>& plane : planes) rank = std::max(rank, plane.max_rank());
  const MatrixView<const T>& a_mn = planes.front().a_mn;
  chooser_.record({{a_mn.rows, a_mn.cols}, rank, subspace_columns(rank), 1}, used);
}

template void AdaptiveRankSolver::reconstruct(std::span<PlaneTask<std::uint8_t>>,
                                              std::span<const RankRule>,
                                              std::span<std::vector<double>>);
template void AdaptiveRankSolver::reconstruct(std::span<PlaneTask<std::uint16_t>>,
                                              std::span<const RankRule>,
                                              std::span<std::vector<double>>);
template void AdaptiveRankSolver::reconstruct(std::span<PlaneTask<float>>,
                                              std::span<const RankRule>,
                                              std::span<std::vector<double>>);

}  // namespace eckart::compute::cpu
