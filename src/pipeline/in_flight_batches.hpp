#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

class JobSteps;

/// Tracks the batches that lanes are computing, so that the ledger can record them if a device is
/// lost. A suspect (in flight during an earlier loss) is computed alone: if the device is lost
/// again, the suspect is the cause. Thread-safe.
class InFlightBatches {
 public:
  using Items = std::vector<const WorkItem*>;
  /// `steps` must outlive this object; only JobSteps::on_device_lost() is called.
  explicit InFlightBatches(JobSteps& steps) : steps_(steps) {}

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
  /// Passes the items in flight to JobSteps::on_device_lost() and refuses new batches from now on.
  /// Logs an error of that function and does not throw it, so that the loss of the device is
  /// reported. Only the first call has an effect. Call it before the registrations of the lost
  /// device end.
  void report_device_lost();

 private:
  bool may_begin(const Batch& batch) const;
  Registration register_batch(const Batch& batch);
  void end(Batches::iterator position);
  void record_lost(const Items& items);

  JobSteps& steps_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batches batches_;
  int suspects_waiting_ = 0;  // suspects have priority
  bool suspect_in_flight_ = false;
  bool is_device_lost_ = false;
  bool is_reporting_ = false;  // registrations must not end during the report
};

}  // namespace eckart::pipeline
