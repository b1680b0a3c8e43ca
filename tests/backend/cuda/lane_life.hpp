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
enum class Bus { none, pinned };

/// One lane's whole life, on a thread of its own: a batch from host to host, whose results are left
/// in `tasks`, then batches in both slots, again and again. Nothing is packed between the barriers:
/// on `Bus::none` the data lies on the device and stays there, on `Bus::pinned` it is copied in
/// from pinned memory and out to it.
class LaneLife {
 public:
  LaneLife(Backend& backend, int index, const BatchKind& kind, std::vector<Task>& tasks);

  /// Planes of 1,000 that the first solver has left to others in what was timed.
  double retries_per_mille() const { return 1000.0 * double(retries_) / double(planes_); }

  /// The whole thing `rounds` times, each between two barriers; `recorder`, if any, is told when
  /// copies and computation begin and end.
  void time(Bus bus, int rounds, int batches, std::barrier<>& together,
            SpanRecorder* recorder = nullptr);

 private:
  void queue(Slot& slot, Bus bus, SpanRecorder* recorder);
  std::vector<Owner> all(const Slot& slot);

  const std::unique_ptr<Lane> owner_;
  CudaLane& lane_;
  const BatchKind kind_;
  std::vector<Task*> tasks_;
  int task_planes_ = 0;
  std::map<const Slot*, std::vector<Owner>> all_;
  std::int64_t retries_ = 0, planes_ = 0;
};

}  // namespace eckart::cuda
