#pragma once

namespace eckart::app {

/// What a run of a shard publishes besides its outputs, or instead of them.
class ShardResults {
 public:
  virtual ~ShardResults() = default;
  /// Call it when the shard begins, after manifest and settings are checked: removes the mark of an
  /// earlier finish(). Throws FatalError, EnvironmentError, as the others do.
  virtual void begin() = 0;
  /// Publishes what is done so far, durably, because the run has ended early.
  virtual void publish() = 0;
  /// Publishes everything and marks the shard as finished.
  virtual void finish() = 0;
};

}  // namespace eckart::app
