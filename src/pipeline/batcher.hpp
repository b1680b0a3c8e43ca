#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "pipeline/work_item.hpp"

namespace eckart {

/// Gathers items by padded shape and ranks until a batch is full or its oldest item has waited long
/// enough. Knows no threads and no clock: time comes in with each call.
class Batcher {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `capacity`: planes a batch of this kind should hold.
  Batcher(std::function<int(const BatchKey&)> capacity, int pad_multiple,
          std::chrono::milliseconds linger)
      : capacity_(std::move(capacity)), pad_multiple_(pad_multiple), linger_time_(linger) {}

  /// Takes the item in. A batch comes out when this item fills one, or finds too little room in
  /// one; a suspect is one by itself.
  std::optional<Batch> add(ItemPtr item, Time now);

  /// A batch whose oldest item has waited for `linger`, if any.
  std::optional<Batch> take_due(Time now);

  /// When take_due() will have something; nothing when no item is held.
  std::optional<Time> next_deadline() const;

  /// Any batch that is still held, however small; nothing when all are out.
  std::optional<Batch> take_any();

 private:
  struct Bin {
    Batch batch;
    Time oldest;
  };
  std::optional<Batch> take(std::map<BatchKey, Bin>::iterator bin);

  const std::function<int(const BatchKey&)> capacity_;
  const int pad_multiple_;
  const std::chrono::milliseconds linger_time_;
  std::map<BatchKey, Bin> bins_;
};

}  // namespace eckart
