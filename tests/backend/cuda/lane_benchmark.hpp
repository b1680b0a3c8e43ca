#pragma once

#include <barrier>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "compute/cuda/lane.hpp"
#include "tests/backend/cuda/span_recorder.hpp"

namespace eckart::compute::cuda {

/// The copies that are timed.
enum class Transfers { none, pinned };

/// Benchmarks one lane on its own thread. The constructor computes one batch from host to host; its
/// results are in `tasks`. time() then computes batches in both slots. Nothing is packed while it
/// measures. With Transfers::none the data stays on the device; with Transfers::pinned it is copied
/// from and to pinned memory.
class LaneBenchmark {
 public:
  LaneBenchmark(Backend& backend, int index, const BatchKey& key, std::vector<Task>& tasks);

  /// Planes per 1,000 that the first solver left uncertified in the timed batches.
  double recomputed_per_mille() const {
    return 1000.0 * double(planes_recomputed_) / double(planes_);
  }

  /// Computes `batches` batches `repeats` times, each time between two barriers. `recorder`, if not
  /// null, records when copies and computation begin and end.
  void time(Transfers transfers, int repeats, int batches, std::barrier<>& start_barrier,
            SpanRecorder* recorder = nullptr);

 private:
  void enqueue(Slot& slot, Transfers transfers, SpanRecorder* recorder);
  std::vector<TaskPlane> all_planes(const Slot& slot);

  const std::unique_ptr<Lane> owned_lane_;
  CudaLane& lane_;
  const BatchKey key_;
  std::vector<Task*> tasks_;
  int planes_per_batch_ = 0;
  std::map<const Slot*, std::vector<TaskPlane>> all_planes_;
  std::int64_t planes_recomputed_ = 0, planes_ = 0;
};

}  // namespace eckart::compute::cuda
