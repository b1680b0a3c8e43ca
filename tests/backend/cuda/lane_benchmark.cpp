#include "tests/backend/cuda/lane_benchmark.hpp"

#include <stdexcept>

namespace eckart::compute::cuda {
namespace {

using test::BusySpan;

}  // namespace

LaneBenchmark::LaneBenchmark(Backend& backend, int index, const BatchKey& key,
                             std::vector<Task>& tasks)
    : owned_lane_(backend.make_lane(index)),
      lane_(dynamic_cast<CudaLane&>(*owned_lane_)),
      key_(key) {
  for (Task& task : tasks) {
    tasks_.push_back(&task);
    planes_per_batch_ += task.input.shape().channels;
  }
  lane_.start(0, key_, tasks_);
  lane_.finish(0);
}

void LaneBenchmark::time(Transfers transfers, int repeats, int batches,
                         std::barrier<>& start_barrier, SpanRecorder* recorder) {
  for (int slot = 0; slot < lane_.slots(); ++slot)
    lane_.slot(slot).pack(key_, tasks_, planes_per_batch_, planes_per_batch_, lane_.streams());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    ECKART_CUDA_CHECK(cudaDeviceSynchronize());
    const int planes_recomputed = lane_.planes_recomputed();
    start_barrier.arrive_and_wait();
    for (int i = 0; i < batches + lane_.slots(); ++i) {
      Slot& slot = lane_.slot(i % lane_.slots());
      if (i >= lane_.slots() &&
          !lane_.recompute_uncertified(slot, transfers == Transfers::pinned).empty())
        throw std::runtime_error("a plane was not certified");
      if (i < batches) enqueue(slot, transfers, recorder);
    }
    ECKART_CUDA_CHECK(cudaDeviceSynchronize());
    start_barrier.arrive_and_wait();
    planes_recomputed_ += lane_.planes_recomputed() - planes_recomputed;
    planes_ += std::int64_t(batches) * planes_per_batch_;
  }
}

void LaneBenchmark::enqueue(Slot& slot, Transfers transfers, SpanRecorder* recorder) {
  const Streams streams = lane_.streams();
  const auto record = [&](BusySpan::Engine engine, cudaStream_t stream, auto&& work) {
    if (recorder) recorder->begin(engine, stream);
    work();
    if (recorder) recorder->end(stream);
  };
  // Copy the layouts on the stream of the pixels, like start(). On the compute stream this copy
  // would wait for the batch before it and for the copies of other lanes.
  slot.select_planes(all_planes(slot), planes_per_batch_,
                     transfers == Transfers::pinned ? slot.in_stream() : streams.compute);
  if (transfers == Transfers::pinned)
    record(BusySpan::copy_in, slot.in_stream(), [&] { slot.copy_in(streams.compute); });
  record(BusySpan::compute, streams.compute, [&] { lane_.compute(slot); });
  if (transfers == Transfers::pinned)
    record(BusySpan::copy_out, streams.out, [&] { slot.copy_out_pixels(streams); });
}

/// All packed planes of a slot, before any were deselected.
std::vector<TaskPlane> LaneBenchmark::all_planes(const Slot& slot) {
  std::vector<TaskPlane>& known = all_planes_[&slot];
  if (known.empty()) known.assign(slot.task_planes().begin(), slot.task_planes().end());
  return known;
}

}  // namespace eckart::compute::cuda
