#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "core/instant.hpp"

namespace eckart::pipeline {

/// The images that a source has found, and which of them are unfinished. Thread-safe.
class FoundImages {
 public:
  /// Adds images that were found at the same time. Returns the number of the first of them: 1 is
  /// the first of all, and each has one more than the one before. `found_at` must not be before
  /// that of earlier images.
  std::int64_t add(Instant found_at, std::size_t images = 1) {
    const std::lock_guard lock(mutex_);
    unfinished_.insert(unfinished_.end(), images, found_at);
    unfinished_count_ += std::int64_t(images);
    const std::int64_t first = count_ + 1;
    count_ += std::int64_t(images);
    return first;
  }
  /// The images with these numbers are finished. Ignores other numbers.
  void finish(std::span<const std::int64_t> numbers) {
    const std::lock_guard lock(mutex_);
    for (const std::int64_t number : numbers) {
      const std::int64_t first = count_ - std::int64_t(unfinished_.size()) + 1;
      if (number < first || number > count_) continue;
      std::optional<Instant>& image = unfinished_[std::size_t(number - first)];
      unfinished_count_ -= image ? 1 : 0;
      image.reset();
      while (!unfinished_.empty() && !unfinished_.front()) unfinished_.pop_front();
    }
  }

  std::int64_t unfinished() const { return unfinished_count_; }
  std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  /// When the oldest unfinished image was found.
  std::optional<Instant> oldest_unfinished() const {
    const std::lock_guard lock(mutex_);
    return unfinished_.empty() ? std::nullopt : unfinished_.front();
  }

 private:
  mutable std::mutex mutex_;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> unfinished_count_{0};
  // By number, from that of the oldest unfinished image on. Finished ones are empty.
  std::deque<std::optional<Instant>> unfinished_;
};

}  // namespace eckart::pipeline
