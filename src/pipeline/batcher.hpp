#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "core/instant.hpp"
#include "pipeline/work_item.hpp"

namespace eckart::pipeline {

/// Collects items by padded shape and ranks until a batch is full or its oldest item has waited for
/// the linger time. Uses no threads and no clock: the caller passes the time.
class Batcher {
 public:
  using Time = Instant;

  /// `backend` knows the plane capacity of batches; it must outlive this object.
  Batcher(const compute::Backend& backend, int pad_multiple, std::chrono::milliseconds linger)
      : backend_(backend), pad_multiple_(pad_multiple), linger_time_(linger) {}

  /// Adds the item. Returns a batch if this item fills it or does not fit into it. A suspect is
  /// returned at once as a batch of its own.
  std::optional<Batch> add(ItemPtr item, Time now);

  /// Returns the batch with the oldest item if that item has waited for the linger time.
  std::optional<Batch> take_due(Time now);

  /// Returns when take_due() will return a batch; nullopt if no item is waiting.
  std::optional<Time> next_deadline() const;

  /// Returns any batch, even if it is not full; nullopt if no item is waiting.
  std::optional<Batch> take_any();

 private:
  struct Bin {
    Batch batch;
    Time oldest;
  };
  std::optional<Batch> take(std::map<compute::BatchKey, Bin>::iterator bin);

  const compute::Backend& backend_;
  const int pad_multiple_;
  const std::chrono::milliseconds linger_time_;
  std::map<compute::BatchKey, Bin> bins_;
};

}  // namespace eckart::pipeline
