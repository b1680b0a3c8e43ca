#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "compute/cpu/float32_solver.hpp"
#include "compute/cpu/float64_solver.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/rank_rule.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::compute::cpu {

struct StopRequested {};

/// Reconstructs images whose ranks depend on their singular values, or whose singular values are
/// wanted. All planes of an image are decomposed before its ranks are chosen.
///
/// The iteration in float32 starts with few columns and grows until the values that it has found
/// satisfy the rules, unless float64 is faster. Images that it does not certify are computed in
/// float64. A target below the resolution of A'A is met by gesvd, even if gram was requested.
/// Reuses its memory between images. The result depends on nothing but the arguments.
class AdaptiveRankSolver {
 public:
  /// `chooser` and the workspaces must outlive this object.
  AdaptiveRankSolver(SolverKind solver, Certificate certificate, SolverChooser& chooser,
                     Float32Workspace& float32_workspace, Float64Workspace& float64_workspace);

  /// `planes` are those of one image, with one output for each rule. Sets the ranks of the outputs,
  /// and, if `spectra` is not empty, all singular values of each plane. Throws ItemError, and
  /// StopRequested between two planes.
  template <class T>
  void reconstruct(std::span<PlaneTask<T>> planes, std::span<const RankRule> rules,
                   std::span<std::vector<double>> spectra);

  void set_stop_token(const std::stop_token& stop) { stop_ = stop; }

 private:
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw StopRequested{};
  }

  enum class Float32Result { certified, uncertified, not_chosen };

  template <class T>
  Float32Result reconstruct_in_float32(std::span<PlaneTask<T>> planes,
                                       std::span<const RankRule> rules);
  template <class T>
  bool find_ranks(std::span<const PlaneTask<T>> planes, std::span<const RankRule> rules);
  template <class T>
  bool refine_until_certified(std::span<PlaneTask<T>> planes, std::span<const RankRule> rules);
  /// Returns whether the solver `kind` resolves the values that the rules need.
  template <class T>
  bool reconstruct_in_float64(SolverKind kind, std::span<PlaneTask<T>> planes,
                              std::span<const RankRule> rules,
                              std::span<std::vector<double>> spectra);
  template <class T>
  bool are_certified(std::span<const PlaneTask<T>> planes) const;

  template <class T>
  void record_solver(std::span<const PlaneTask<T>> planes, SolverKind used);

  const SolverKind solver_;
  const Certificate certificate_;
  SolverChooser& chooser_;
  Float32Workspace& float32_workspace_;
  Float64Workspace& float64_workspace_;
  std::stop_token stop_;
  // One for each plane of an image; float64_ for one kind of solver at a time.
  std::vector<Float32Solver> float32_;
  std::vector<Float64Solver> float64_;
  std::vector<int> max_ranks_;  // of the iteration, by plane
};

}  // namespace eckart::compute::cpu
