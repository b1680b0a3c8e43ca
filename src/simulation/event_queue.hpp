#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace eckart::simulation {

struct Event {
  enum class Kind { node_started, chunk_step, node_failed, node_repaired, shard_returned };

  double time_s = 0;
  Kind kind = Kind::node_started;
  int node = 0;
  /// The number of the attempt of the node that this event belongs to. An event of an ended attempt
  /// has no effect.
  std::int64_t attempt = 0;
  int next_step = 0;        ///< of the chunk
  std::int64_t images = 0;  ///< of the chunk
  std::int64_t shard = 0;   ///< that is returned
};

/// Events by time. Events of the same time are in the order in which they were added.
class EventQueue {
 public:
  void add(const Event& event) { events_.push({event, added_++}); }
  Event take() {
    const Event event = events_.top().event;
    events_.pop();
    return event;
  }

 private:
  struct Entry {
    Event event;
    std::int64_t number;

    bool operator<(const Entry& other) const {  // the last one is on top
      return event.time_s != other.event.time_s ? event.time_s > other.event.time_s
                                                : number > other.number;
    }
  };

  std::priority_queue<Entry> events_;
  std::int64_t added_ = 0;
};

}  // namespace eckart::simulation
