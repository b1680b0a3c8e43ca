#pragma once

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/work_item.hpp"

namespace eckart {

/// The batches that lanes compute at this moment, so that it is known what was computed when a
/// device was lost. A suspect, which was in flight at such a moment before, is computed while
/// nothing else is: if it is then lost again, it is known by what. Thread-safe.
class InFlightBatches {
 public:
  using Items = std::vector<const WorkItem*>;
  /// Told once, when the device is lost, what was in flight; the items live during the call.
  /// Must not throw.
  using OnDeviceLost = std::function<void(const Items& items)>;
  explicit InFlightBatches(OnDeviceLost on_device_lost)
      : on_device_lost_(std::move(on_device_lost)) {}

 private:
  using Batches = std::list<Items>;

 public:
  /// A batch that is in flight, until this ends. Its items must live as long.
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

  /// Nothing where the batch must wait for others in flight.
  std::optional<Registration> try_begin(const Batch& batch);
  /// Waits for them; the caller has nothing in flight itself. Nothing where the device is lost.
  std::optional<Registration> begin(const Batch& batch);
  /// Whether nothing is in flight.
  bool is_idle() const;
  /// Nothing begins any more. Before what was in flight on the lost device ends.
  void report_device_lost();

 private:
  bool may_begin(const Batch& batch) const;
  Registration register_batch(const Batch& batch);
  void end(Batches::iterator position);

  const OnDeviceLost on_device_lost_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batches batches_;
  int suspects_waiting_ = 0;  // which go before others
  bool suspect_in_flight_ = false;
  bool is_device_lost_ = false;
  bool is_reporting_ = false;  // what was in flight, which must live so long
};

}  // namespace eckart
