#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "core/error.hpp"
#include "core/outcome.hpp"

namespace eckart::app {

/// What a watch counts for its status. Thread-safe.
class WatchFigures {
 public:
  /// Counts an item that left the pipeline, unless it will be retried.
  void count(ItemResult result);
  /// Records why items are deferred.
  void set_last_remedy(EnvironmentError::Remedy remedy) { last_remedy_ = remedy; }
  /// Reads the free space; the file system may not respond.
  void update_free_bytes(const std::filesystem::path& folder);
  void forget_free_bytes() { free_bytes_ = -1; }

  std::int64_t done() const { return done_; }
  std::int64_t skipped() const { return skipped_; }
  std::int64_t failed() const { return failed_; }
  EnvironmentError::Remedy last_remedy() const { return last_remedy_; }
  std::int64_t free_bytes() const { return free_bytes_; }  ///< -1: unknown

 private:
  std::atomic<std::int64_t> done_{0}, skipped_{0}, failed_{0}, free_bytes_{-1};
  std::atomic<EnvironmentError::Remedy> last_remedy_{EnvironmentError::Remedy::manual_repair};
};

}  // namespace eckart::app
