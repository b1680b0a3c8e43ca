#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "flow/stage_clock.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// Owns one lane and keeps its slots full: while one batch is computed, the next is started or the
/// last is emptied. Lives on one thread.
class ComputeWorker {
 public:
  ComputeWorker(std::unique_ptr<Lane> lane, BatchChannel& in, ItemChannel& out,
                flow::StageClock::Worker& clock);

  /// Until `in` is closed and empty; every item goes to `out`, failed ones with their outcome.
  void run();

 private:
  struct InFlight {
    int slot;
    Batch batch;
  };
  std::optional<Batch> next_batch();
  void start(Batch batch);
  void finish_oldest();
  void send(Batch batch);

  BatchChannel& in_;
  ItemChannel& out_;
  flow::StageClock::Worker& clock_;
  std::vector<int> free_slots_;
  std::deque<InFlight> in_flight_;  // outlives the lane, which may still be reading its items
  std::unique_ptr<Lane> lane_;
};

}  // namespace eckart
