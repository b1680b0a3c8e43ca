#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "compute/device_span.hpp"
#include "compute/out_of_memory.hpp"
#include "core/image.hpp"
#include "core/outcome.hpp"
#include "core/rank_policy.hpp"
#include "core/solver_costs.hpp"

namespace eckart {

/// What is known of one plane's reconstruction at one rank.
struct PlaneResult {
  int rank = 0;
  double energy = 0;         ///< sum_{i<=rank} sigma_i^2 / ||A||_F^2
  double residual = 0;       ///< squared error before clamping and rounding
  double squared_error = 0;  ///< squared error of the pixels written
  /// The PSNR before rounding by which the optimum is estimated to be better, with a margin; 0
  /// where every pixel written is the input's.
  double loss_estimate_db = 0;
  /// The same, proven: of every float64 solver, and with Certificate::bound of all. NaN where
  /// nothing is proven.
  double loss_bound_db = std::numeric_limits<double>::quiet_NaN();
  bool recomputed = false;  ///< the first attempt had not settled it
};

/// One image for a backend: `input` and, for every rank policy, one output of the same shape and
/// its planes' results.
struct Task {
  Image input;
  std::span<const RankPolicy> ranks;  ///< one output each; whoever makes the task keeps them
  std::vector<Image> outputs;         ///< one a rank policy; allocated by the caller
  std::vector<std::vector<PlaneResult>> results;  ///< [output][channel]
  bool cpu_only = false;                          ///< to be computed without one
  bool canceled = false;  ///< without results, since a stop was requested; see Lane
  std::string error;      ///< why this image has no result; empty if it has
  FailureReason reason = FailureReason::not_converged;  ///< which kind of error that is
};

/// rows >= cols, both as large as a batch needs: the shape that every plane of a batch is padded to
/// with zeros. They change no singular value but add zeros; a wide plane is taken transposed.
struct PaddedShape {
  int rows = 0;
  int cols = 0;
  friend auto operator<=>(const PaddedShape&, const PaddedShape&) = default;
};
PaddedShape padded_shape(const ImageShape& shape, int multiple);

/// What the tasks of a batch have in common.
struct BatchKey {
  PaddedShape shape;
  std::vector<RankPolicy> ranks;
  friend auto operator<=>(const BatchKey&, const BatchKey&) = default;
};
/// The task's planes padded to a multiple of so many rows and columns.
BatchKey batch_key(const Task& task, int multiple);

enum class SolverKind { automatic, gram, subspace, gesvd, gesvdj };
std::string to_string(SolverKind kind);
/// Whether it is, or may be, an iteration that a certificate has to follow.
constexpr bool is_iterative(SolverKind kind) {
  return kind == SolverKind::automatic || kind == SolverKind::subspace;
}
/// Throws std::invalid_argument.
SolverKind parse_solver(const std::string& name);

/// What the cost of decomposing a batch depends on.
struct BatchWorkload {
  PaddedShape shape;
  int rank;                 ///< the largest
  int columns;              ///< that the subspace solver would work with
  int planes;               ///< in a full batch
  bool is_float64 = false;  ///< whether it would do so in float64, as CUDA does with many columns
};

/// How planes of one shape are decomposed, and why, in words for people.
struct SolverChoice {
  BatchWorkload batch;
  SolverKind solver;
  std::string explanation;
};

/// One stream of work through a backend. Made, used and destroyed on one thread.
///
/// A lane has slots() slots. start() takes up to Backend::batch_planes() planes into a free slot
/// and may return before the work is done; finish() waits for it. The tasks must live, untouched,
/// from one to the other. So a lane with two slots computes one batch while the caller fills or
/// empties the other.
///
/// A task that fails alone says so in Task::error. Both throw DeviceLostError when the backend is
/// lost, and any other std::exception when this batch has failed; the slot is then free again.
/// OutOfMemory is one of these: from start() where the batch is too large, from finish() where some
/// of its planes wanted more than the rest.
class Lane {
 public:
  virtual ~Lane() = default;
  virtual int slots() const = 0;
  virtual void start(int slot, const BatchKey& key, std::span<Task* const> tasks) = 0;
  virtual void finish(int slot) = 0;
  /// To be called before start(): once a stop is requested a lane that computes for long may leave
  /// the rest of a batch, between two planes, and mark its tasks as given up.
  virtual void set_stop_token(const std::stop_token& /*stop*/) {}
  /// What was measured of the batches that were finished since the last call: with
  /// BackendOptions::trace, on a device that can tell. In the order of time for each kind.
  virtual std::vector<DeviceSpan> take_spans() { return {}; }
};

/// What GPU memory was there for, and what it was not.
struct FallbackCounts {
  std::int64_t gpu_images = 0;           ///< that were computed on a GPU
  std::int64_t oom_splits = 0;           ///< batches that were split in two
  std::int64_t cpu_fallback_images = 0;  ///< that were computed on the CPU instead
};

/// A way to compute. Thread-safe: several threads may make lanes and ask at the same time.
class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "cuda", "checked".
  virtual std::string name() const = 0;
  /// The name of the CPU or GPU that computes, by which measured costs are known.
  virtual std::string device_name() const { return {}; }
  /// One line for people: devices, solver, precision.
  virtual std::string description() const = 0;
  /// Lanes worth having on this machine, at least 1.
  virtual int lanes() const = 0;
  /// GPUs that compute, by their PCI bus ids; the first lanes are on one each.
  virtual std::vector<std::string> gpu_bus_ids() const { return {}; }
  virtual FallbackCounts fallback_counts() const { return {}; }
  /// How many planes a batch of this kind should gather, at least 1. An image with more channels
  /// than this is a batch of its own.
  virtual int batch_planes(const BatchKey& key) const = 0;
  /// 0 <= index < lanes(). Throws FatalError; OutOfMemory where a lane may be had later.
  virtual std::unique_ptr<Lane> make_lane(int index) = 0;
  /// A lane that computes on the GPU of this index in gpu_bus_ids(), or throws, but never computes
  /// elsewhere: it shows whether that GPU works.
  virtual std::unique_ptr<Lane> make_gpu_lane(int gpu) { return make_lane(gpu); }
  /// The solver for each shape and rank met so far, the largest first.
  virtual std::vector<SolverChoice> solver_choices() const { return {}; }
  /// Lines for `eckart doctor`: devices, memory, driver, libraries.
  virtual std::vector<std::string> details() const { return {}; }
  /// Lines for the closing summary; empty for most.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// What shows that a result of an iteration is within kMaxLossDb of the optimum. One for which it
/// does not is computed again in float64.
enum class Certificate {
  estimate,  ///< see loss_estimate_db() in compute/certificate.hpp
  bound      ///< a proven bound; see docs/explanation/numerics.md
};

/// What a backend is made from.
struct BackendOptions {
  SolverKind solver = SolverKind::automatic;
  Certificate certificate = Certificate::estimate;
  /// Bytes do not depend on who shares a batch (CUDA; the CPU's never do).
  bool deterministic = false;
  int lanes = 0;                 ///< 0: the backend decides
  int batch_planes = 0;          ///< planes a batch; 0: the backend decides by shape
  std::vector<int> devices;      ///< GPUs by number; empty: all
  double memory_fraction = 0.8;  ///< of a GPU's memory, for all lanes on it
  bool trace = false;            ///< lanes measure what their device does, for take_spans()
  Calibration calibration = {};  ///< a backend takes its device's, or else has its own
};

}  // namespace eckart
