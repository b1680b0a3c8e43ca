#pragma once

#include <span>

#include "compute/backend.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/load.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// The processing steps that depend on the job of an image; app::Run and app::Service implement
/// them. For each image, the pipeline calls assign_outputs(), load(), write(), publish() and
/// finish() in this order, on the threads of their stages, several at a time. After an error or a
/// skip, only publish() and finish() follow. After a stop or an abort, images that are not computed
/// are dropped. An exception that a comment does not mention ends the run, such as FatalError.
class JobSteps {
 public:
  virtual ~JobSteps() = default;

  /// Called once, on the thread of Pipeline::run(), while images are already being loaded, because
  /// a backend takes time to start. The backend must outlive the pipeline.
  virtual compute::Backend& create_backend() = 0;

  /// Source, one thread: assigns output names to the item, in order of arrival. ItemError fails the
  /// item.
  virtual void assign_outputs(WorkItem& item) = 0;
  /// Load: decodes the item into its task, or sets its outcome to skipped or failed. ItemError
  /// fails the item. After an EnvironmentError that the release of resources can remedy, it is
  /// called again.
  virtual void load(WorkItem& item, LoadContext& context) = 0;
  /// Write: encodes the item's outputs into files that are not published (WorkItem::publication).
  /// ItemError fails the item. After an EnvironmentError it may be called again, for example when
  /// the disk has free space.
  virtual void write(WorkItem& item) = 0;
  /// Write: publishes the outputs of a group of items, and records those that it has published
  /// before, because one transaction of the ledger for both takes less time. It is called until
  /// each item is ItemState::recorded, with others that are to be published. A failed item gets its
  /// outcome. May reorder the group. If it throws EnvironmentError, the caller may write
  /// unpublished items again and call it again. Must not throw ItemError.
  virtual void publish(std::span<ItemPtr> group) = 0;
  /// Write: called last, once for each item that is recorded. If the run ends because publish()
  /// threw EnvironmentError, also for items that are only published.
  virtual void finish(const WorkItem& item) = 0;

  /// Compute: the device was lost while these items were in flight; they are valid during the call.
  /// Exceptions are logged and not passed on.
  virtual void on_device_lost(const InFlightBatches::Items& items) = 0;
};

}  // namespace eckart::pipeline
