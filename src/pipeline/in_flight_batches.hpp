#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Tracks the batches that lanes are computing, so that the ledger can record them if a device is
/// lost. A suspect (in flight during an earlier loss) is computed alone: if the device is lost
/// again, the suspect is the cause. Thread-safe.
class InFlightBatches {
 public:
  using Items = std::vector<const WorkItem*>;
  /// Called once if the device is lost, with the items in flight; they are valid during the call.
  /// Must not throw.
  using OnDeviceLost = std::function<void(const Items& items)>;
  explicit InFlightBatches(OnDeviceLost on_device_lost)
      : on_device_lost_(std::move(on_device_lost)) {}

 private:
  using Batches = std::list<Items>;

 public:
  /// Registers a batch as in flight during the lifetime of this object. The items of the batch must
  /// live as long.
  class Registration {
   public:
    Registration(InFlightBatches& all, Batches::iterator position)
        : in_flight_batches_(&all), position_(position) {}
    Registration(Registration&& other) noexcept
        : in_flight_batches_(std::exchange(other.in_flight_batches_, nullptr)),
          position_(other.position_) {}
    Registration& operator=(Registration&&) = delete;
    ~Registration() {
      if (in_flight_batches_) in_flight_batches_->end(position_);
    }

   private:
    InFlightBatches* in_flight_batches_;
    Batches::iterator position_;
  };

  /// Registers the batch. Returns nullopt if it must wait for other batches or if the device is
  /// lost.
  std::optional<Registration> try_begin(const Batch& batch);
  /// Waits for other batches if necessary, and registers the batch. The caller must have no batch
  /// in flight. Returns nullopt if the device is lost.
  std::optional<Registration> begin(const Batch& batch);
  bool is_idle() const;
  /// Reports the items in flight and refuses new batches from now on. Call it before the
  /// registrations of the lost device end.
  void report_device_lost();

 private:
  bool may_begin(const Batch& batch) const;
  Registration register_batch(const Batch& batch);
  void end(Batches::iterator position);

  const OnDeviceLost on_device_lost_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batches batches_;
  int suspects_waiting_ = 0;  // suspects have priority
  bool suspect_in_flight_ = false;
  bool is_device_lost_ = false;
  bool is_reporting_ = false;  // registrations must not end during the report
};

}  // namespace eckart::pipeline
