#pragma once

#include <barrier>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "compute/cuda/lane.hpp"
#include "tests/backend/cuda/span_recorder.hpp"

namespace eckart::cuda {

/// What is timed between the barriers.
enum class Transfers { none, pinned };

/// One lane's whole life, on a thread of its own: a batch from host to host, whose results are left
/// in `tasks`, then batches in both slots, again and again. Nothing is packed between the barriers:
/// on `Transfers::none` the data lies on the device and stays there, on `Transfers::pinned` it is
/// copied in from pinned memory and out to it.
class LaneBenchmark {
 public:
  LaneBenchmark(Backend& backend, int index, const BatchKey& kind, std::vector<Task>& tasks);

  /// Planes of 1,000 that the first solver has left to others in what was timed.
  double recomputed_per_mille() const {
    return 1000.0 * double(planes_recomputed_) / double(planes_);
  }

  /// The whole thing `rounds` times, each between two barriers; `recorder`, if any, is told when
  /// copies and computation begin and end.
  void time(Transfers transfers, int repeats, int batches, std::barrier<>& start_barrier,
            SpanRecorder* recorder = nullptr);

 private:
  void enqueue(Slot& slot, Transfers transfers, SpanRecorder* recorder);
  std::vector<TaskPlane> all_planes(const Slot& slot);

  const std::unique_ptr<Lane> owned_lane_;
  CudaLane& lane_;
  const BatchKey kind_;
  std::vector<Task*> tasks_;
  int planes_per_batch_ = 0;
  std::map<const Slot*, std::vector<TaskPlane>> all_planes_;
  std::int64_t planes_recomputed_ = 0, planes_ = 0;
};

}  // namespace eckart::cuda
