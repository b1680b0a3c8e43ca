#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>

#include "compute/backend.hpp"
#include "flow/stage_clock.hpp"
#include "flow/workers.hpp"
#include "pipeline/compute_worker.hpp"
#include "trace/trace.hpp"

namespace eckart::pipeline {

/// Computes loaded images with a backend that is ready at once, while the backend of the pipeline
/// is created. Each image is a batch.
class StartupCompute {
 public:
  /// Where images come from and what the workers share with those of the pipeline. Everything must
  /// outlive this object.
  struct Context {
    ItemChannel& loaded;
    std::atomic<int>& items_before_batcher;  ///< is decremented for each image that is taken
    ItemChannel& finished;
    InFlightBatches& in_flight_batches;
    JpegDecoding& jpeg_decoding;
    Meters& meters;
    Activity& activity;
    StepLimits limits;
    std::stop_token stop;
    trace::Trace* trace;  ///< may be null
  };

  /// `on_failure`: as that of flow::Workers.
  StartupCompute(compute::Backend& backend, const Context& context,
                 flow::Workers::OnFailure on_failure);

  /// From now on, at most one more image is taken.
  void end() { has_ended_ = true; }
  /// Waits until the images taken are computed. Call it after end(), or when `loaded` is closed.
  void join();
  /// The number of images taken so far.
  std::int64_t images() const { return images_; }

 private:
  void run_batch();
  void run_compute(int index);
  void fail(std::exception_ptr error);

  compute::Backend& backend_;
  const Context context_;
  const flow::Workers::OnFailure on_failure_;
  std::atomic<bool> has_ended_{false};
  std::atomic<std::int64_t> images_{0};
  BatchChannel batches_{1};
  flow::StageClock batch_clock_, compute_clock_;
  flow::Workers compute_, batch_;  // last: their threads end before the other members
};

}  // namespace eckart::pipeline
