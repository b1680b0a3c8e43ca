#pragma once

#include <span>

#include "compute/backend.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/load.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// The processing steps that depend on the job of an image; app::Run and app::Service implement
/// them. The pipeline calls them in the order of declaration. Each runs on the threads of its
/// stage, several at a time. Each step throws ItemError if this image fails, EnvironmentError if
/// the machine fails, and FatalError to end the run.
class JobSteps {
 public:
  virtual ~JobSteps() = default;

  /// Called once, on the thread of Pipeline::run(), while images are already being loaded, because
  /// a backend takes time to start. The backend must outlive the pipeline.
  virtual compute::Backend& create_backend() = 0;

  /// Source: assigns output names to the item, in order of arrival.
  virtual void assign_outputs(WorkItem& item) = 0;
  /// Load: decodes the item into its task, or sets its outcome to skipped or failed.
  virtual void load(WorkItem& item, ItemMemory& memory) = 0;
  /// Write: encodes the item's outputs under temporary names (WorkItem::publication).
  virtual void write(WorkItem& item) = 0;
  /// Write: publishes and records the outputs of a group of items. Each item becomes
  /// ItemState::recorded; a failed item gets its outcome. May reorder the group. If it throws
  /// EnvironmentError, the caller writes unpublished items again and calls it again with the items
  /// that are not recorded.
  virtual void publish(std::span<ItemPtr> group) = 0;
  /// Write: called last, once for each item.
  virtual void finish(const WorkItem& item) = 0;

  /// Compute: the device was lost while these items were in flight.
  virtual void on_device_lost(const InFlightBatches::Items& items) = 0;
};

}  // namespace eckart::pipeline
