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
  Batcher(std::function<int(const BatchKind&)> capacity, int pad, std::chrono::milliseconds linger)
      : capacity_(std::move(capacity)), pad_(pad), linger_(linger) {}

  /// Takes the item in. A batch comes out when this item fills one, or finds too little room in
  /// one; a suspect is one by itself.
  std::optional<Batch> add(ItemPtr item, Time now);

  /// A batch whose oldest item has waited for `linger`, if any.
  std::optional<Batch> due(Time now);

  /// When due() will have something; nothing when no item is held.
  std::optional<Time> next_due() const;

  /// Any batch that is still held, however small; nothing when all are out.
  std::optional<Batch> flush();

 private:
  struct Bin {
    Batch batch;
    Time oldest;
  };
  std::optional<Batch> take(std::map<BatchKind, Bin>::iterator bin);

  const std::function<int(const BatchKind&)> capacity_;
  const int pad_;
  const std::chrono::milliseconds linger_;
  std::map<BatchKind, Bin> bins_;
};

}  // namespace eckart
