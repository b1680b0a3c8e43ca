#pragma once

#include <vector>

namespace eckart::test {

/// An interval during which an engine of a GPU was busy.
struct BusySpan {
  enum Engine { copy_in, compute, copy_out };
  static constexpr int kEngines = 3;
  Engine engine;
  double begin, end;  ///< in any unit
};

/// Shares of an interval, 0 to 1.
struct Overlap {
  double busy[BusySpan::kEngines] = {};  ///< in which this engine was busy
  double all_busy = 0;                   ///< in which all three engines were busy
  double copying_while_computing = 0;    ///< in which compute and a copy were busy
  double idle = 0;                       ///< in which no engine was busy
};

/// Computes the shares of the time from `begin` to `end`. Spans of one engine may overlap.
Overlap measure_overlap(const std::vector<BusySpan>& spans, double begin, double end);

}  // namespace eckart::test
