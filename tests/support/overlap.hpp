#pragma once

#include <vector>

namespace eckart::test {

/// A time during which an engine of a GPU was at work.
struct BusySpan {
  enum Engine { copy_in, compute, copy_out };
  static constexpr int kEngines = 3;
  Engine engine;
  double begin, end;  ///< in any unit
};

/// Shares of a stretch of time.
struct Overlap {
  double busy[BusySpan::kEngines] = {};  ///< during which this engine was at work
  double all_busy = 0;                   ///< during which all three were
  double copying_while_computing = 0;    ///< during which compute and a copy were
  double idle = 0;                       ///< during which none was
};

/// Of the time from `begin` to `end`; spans of one engine may lie over one another.
Overlap measure_overlap(const std::vector<BusySpan>& spans, double begin, double end);

}  // namespace eckart::test
