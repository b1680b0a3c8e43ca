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
class InFlight {
 public:
  using Items = std::vector<const WorkItem*>;
  /// Told once, when the device is lost, what was in flight; the items live during the call.
  using OnLost = std::function<void(const Items& items)>;
  explicit InFlight(OnLost on_lost) : on_lost_(std::move(on_lost)) {}

 private:
  using Batches = std::list<Items>;

 public:
  /// A batch that is in flight, until this ends. Its items must live as long.
  class Flight {
   public:
    Flight(InFlight& all, Batches::iterator place) : all_(&all), place_(place) {}
    Flight(Flight&& other) noexcept
        : all_(std::exchange(other.all_, nullptr)), place_(other.place_) {}
    Flight& operator=(Flight&&) = delete;
    ~Flight() {
      if (all_) all_->end(place_);
    }

   private:
    InFlight* all_;
    Batches::iterator place_;
  };

  /// Nothing where the batch must wait for others in flight.
  std::optional<Flight> try_begin(const Batch& batch);
  /// Waits for them; the caller has nothing in flight itself. Nothing where the device is lost.
  std::optional<Flight> begin(const Batch& batch);
  /// Whether nothing is in flight.
  bool is_idle() const;
  /// Nothing begins any more. Before what was in flight on the lost device ends.
  void device_lost();

 private:
  bool may_begin(const Batch& batch) const;
  Flight begun(const Batch& batch);
  void end(Batches::iterator place);

  const OnLost on_lost_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Batches batches_;
  int suspects_waiting_ = 0;  // which go before others
  bool suspect_in_flight_ = false;
  bool lost_ = false;
};

}  // namespace eckart
