#include "tests/backend/cuda/lane_life.hpp"

#include <stdexcept>

namespace eckart::cuda {
namespace {

using testing::BusySpan;

}  // namespace

LaneLife::LaneLife(Backend& backend, int index, const BatchKind& kind, std::vector<Task>& tasks)
    : owner_(backend.make_lane(index)), lane_(dynamic_cast<CudaLane&>(*owner_)), kind_(kind) {
  for (Task& task : tasks) {
    tasks_.push_back(&task);
    task_planes_ += task.input.shape().channels;
  }
  lane_.start(0, kind_, tasks_);
  lane_.finish(0);
}

void LaneLife::time(Bus bus, int rounds, int batches, std::barrier<>& together,
                    SpanRecorder* recorder) {
  for (int slot = 0; slot < lane_.slots(); ++slot)
    lane_.slot(slot).pack(kind_, tasks_, task_planes_, task_planes_, lane_.streams());
  for (int round = 0; round < rounds; ++round) {
    ECKART_CUDA_CHECK(cudaDeviceSynchronize());
    const int retries = lane_.retries();
    together.arrive_and_wait();
    for (int i = 0; i < batches + lane_.slots(); ++i) {
      Slot& slot = lane_.slot(i % lane_.slots());
      if (i >= lane_.slots() && !lane_.settle(slot, bus == Bus::pinned).empty())
        throw std::runtime_error("a plane was not settled");
      if (i < batches) queue(slot, bus, recorder);
    }
    ECKART_CUDA_CHECK(cudaDeviceSynchronize());
    together.arrive_and_wait();
    retries_ += lane_.retries() - retries;
    planes_ += std::int64_t(batches) * task_planes_;
  }
}

void LaneLife::queue(Slot& slot, Bus bus, SpanRecorder* recorder) {
  const Streams streams = lane_.streams();
  const auto record = [&](BusySpan::Engine engine, cudaStream_t stream, auto&& work) {
    if (recorder) recorder->begin(engine, stream);
    work();
    if (recorder) recorder->end(stream);
  };
  // With the pixels, as start() does it: on the stream of computation this copy would wait for the
  // batch before, and then behind the other lanes' copies.
  slot.keep_only(all(slot), task_planes_, bus == Bus::pinned ? streams.in : streams.compute);
  if (bus == Bus::pinned) record(BusySpan::copy_in, streams.in, [&] { slot.copy_in(streams); });
  record(BusySpan::compute, streams.compute, [&] { lane_.compute(slot); });
  if (bus == Bus::pinned)
    record(BusySpan::copy_out, streams.out, [&] { slot.copy_out_pixels(streams); });
}

/// A slot's planes before any of them was left out.
std::vector<Owner> LaneLife::all(const Slot& slot) {
  std::vector<Owner>& known = all_[&slot];
  if (known.empty()) known.assign(slot.owners().begin(), slot.owners().end());
  return known;
}

}  // namespace eckart::cuda
