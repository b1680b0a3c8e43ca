#pragma once

#include <chrono>
#include <cstdint>

#include "core/instant.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Time limits of the pipeline steps. A step that takes longer is stalled.
struct StepLimits {
  std::chrono::seconds stall;   ///< base limit, added to the time of the work
  std::chrono::seconds decode;  ///< added for decoding an image

  using Duration = Clock::duration;
  /// Limit for reading and decoding the item's file. Its size may be unknown.
  Duration load(const WorkItem& item) const;
  /// Limit for encoding and writing the item's outputs.
  Duration write(const WorkItem& item) const;
  /// Time for syncing the item's outputs and copying or moving its input, without the base limit.
  Duration publish(const WorkItem& item) const;
  /// Limit for a full decomposition of every plane of the batch, in float64 on one slow core.
  Duration compute(const Batch& batch) const;
};

}  // namespace eckart::pipeline
