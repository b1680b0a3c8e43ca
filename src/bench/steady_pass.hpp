#pragma once

#include <cstddef>

#include "core/instant.hpp"

namespace eckart::bench {

/// How long workers take for a pass of items that wait in batches, without its start and its end,
/// when not all workers have a batch: from the end of the first batch until the last one is taken.
class SteadyPass {
 public:
  SteadyPass(std::size_t items, std::size_t first_batch)
      : items_(items), first_batch_(first_batch) {}

  /// `done`: the number of finished items. `has_waiting_batches`: no worker has to wait.
  void observe(Instant now, std::size_t done, bool has_waiting_batches);

  /// The time of the pass in seconds, from the items that were finished in between. `whole_s`, what
  /// the pass took, if these are less than half of all.
  double seconds(double whole_s) const;

 private:
  struct Moment {
    Instant time;
    std::size_t done = 0;
  };
  const std::size_t items_, first_batch_;
  Moment begin_, end_;
};

}  // namespace eckart::bench
