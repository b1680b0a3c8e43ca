#pragma once

#include <chrono>
#include <cstdint>

#include "pipeline/work_item.hpp"

namespace eckart {

/// How long the steps of a pipeline may take before they are taken for hung.
struct StepLimits {
  std::chrono::seconds stall;   ///< that no step explains; the work comes on top
  std::chrono::seconds decode;  ///< that decoding an image may take

  using Duration = std::chrono::steady_clock::duration;
  /// Reading and decoding the item's file, whose size may not be known yet.
  Duration load(const WorkItem& item) const;
  /// Encoding and writing the item's outputs.
  Duration write(const WorkItem& item) const;
  /// Of a written item: syncing its outputs, and copying or moving its file.
  Duration publish(const WorkItem& item) const;
  /// A full decomposition of each of the batch's planes, in float64 on one slow core.
  Duration compute(const Batch& batch) const;
};

}  // namespace eckart
