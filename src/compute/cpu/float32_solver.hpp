#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cpu/float32_reconstruction.hpp"
#include "compute/cpu/loss_bound.hpp"
#include "compute/cpu/plane_task.hpp"
#include "compute/cpu/subspace_iteration.hpp"
#include "compute/rank_rule.hpp"

namespace eckart::compute::cpu {

/// What Float32Solver needs only while it loads samples or certifies outputs. The solvers of a lane
/// share it.
struct Float32Workspace {
  std::vector<std::byte> samples;
  Float32Reconstruction reconstruction;
  LossBound bound;
};

/// Reconstructs planes by block subspace iteration in float32. A plane is accepted only if all of
/// its outputs are certified. Reuses its memory between calls. `workspace` must outlive the solver.
class Float32Solver {
 public:
  Float32Solver(Certificate certificate, Float32Workspace& workspace)
      : certificate_(certificate), workspace_(workspace) {}

  /// Returns false if the iteration did not certify all outputs, or failed numerically. The outputs
  /// of the plane are then invalid. Throws std::bad_alloc, but no ItemError.
  template <class T>
  bool reconstruct(const PlaneTask<T>& plane);

  // The steps of reconstruct(), for planes whose ranks are chosen between them. They throw
  // ItemError(not_converged), and std::bad_alloc. Spectra are those of the samples.

  static constexpr int kRounds = 3;
  enum class Certification { certified, uncertified, uncertifiable };

  /// Loads the samples of the next plane.
  template <class T>
  void load(const PlaneTask<T>& plane);
  /// Starts the iteration for ranks up to `rank`.
  void start(int rank);
  /// After start(): estimates of the `rank` leading values, each at most the true one.
  PlaneSpectrum estimated_spectrum();
  /// Runs one of kRounds rounds, numbered from 0, with factors for ranks up to `rank`.
  void refine(int round, int rank);
  /// After refine(): the values that the factors keep.
  PlaneSpectrum spectrum() const;
  /// After refine(): computes the output of the largest rank and, if it is certified, the others.
  /// If the result is `uncertifiable`, more rounds do not help.
  template <class T>
  Certification certify(const PlaneTask<T>& plane);

 private:
  template <class T>
  Certification certify_outputs(const PlaneTask<T>& plane);
  template <class T>
  Certification store_outputs(const PlaneTask<T>& plane,
                              std::span<const typename PlaneTask<T>::Output* const> outputs);

  template <class T>
  Certification prove_outputs(const PlaneTask<T>& plane);

  PlaneSpectrum spectrum_of(const std::vector<double>& values) const;

  const Certificate certificate_;
  Float32Workspace& workspace_;
  int m_ = 0, n_ = 0, rank_ = 0;
  double scale_ = 1;  // of the plane
  SubspaceIteration iteration_;
  const SubspaceIteration::LowRankFactors* factors_ = nullptr;  // of iteration_
  std::vector<float> a_t_nm_;
  double squared_norm_ = 0;
};

}  // namespace eckart::compute::cpu
