#pragma once

#include <span>

#include "compute/backend.hpp"
#include "pipeline/in_flight_batches.hpp"
#include "pipeline/load.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// The steps of an image that depend on whose image it is; app::Run and app::Service implement
/// them. The pipeline calls them in the order in which they stand here, each on the threads of its
/// stage, several of them at a time. Every step throws ItemError for this image's failure,
/// EnvironmentError where the machine is to blame, and FatalError for the end of the run.
class JobSteps {
 public:
  virtual ~JobSteps() = default;

  /// Called once, on the thread of Pipeline::run(), while loading has already begun: a backend
  /// takes time to start. It must outlive the pipeline.
  virtual Backend& create_backend() = 0;

  /// Source: gives the item the names of its outputs, in the order of arrival.
  virtual void assign_outputs(WorkItem& item) = 0;
  /// Load: fills the item's task with pixels, or gives the item an outcome that says why not.
  virtual void load(WorkItem& item, const ReserveBytes& reserve) = 0;
  /// Write: encodes the item's outputs under temporary names (WorkItem::publication).
  virtual void write(WorkItem& item) = 0;
  /// Write: moves the outputs of a group of items to their places and records them. Each item is
  /// advanced to ItemState::recorded, an item that fails gets its outcome. At an EnvironmentError
  /// the items that are not published are written again, and those not recorded are given again.
  /// The order within the group may be changed.
  virtual void publish(std::span<ItemPtr> group) = 0;
  /// Write: the item is at its end and is not given again.
  virtual void finish(const WorkItem& item) = 0;

  /// Compute: the device was lost while these items were in flight.
  virtual void on_device_lost(const InFlightBatches::Items& items) = 0;
};

}  // namespace eckart
