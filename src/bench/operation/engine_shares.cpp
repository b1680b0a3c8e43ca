#include "bench/operation/engine_shares.hpp"

#include <algorithm>

namespace eckart::bench {

double covered_by(int count, const std::vector<Interval>& intervals) {
  std::vector<std::pair<double, int>> changes;
  for (const auto& [begin, end] : intervals) {
    changes.emplace_back(begin, 1);
    changes.emplace_back(end, -1);
  }
  std::sort(changes.begin(), changes.end());
  double covered = 0, before = 0;
  int active = 0;
  for (const auto& [at, change] : changes) {
    if (active >= count) covered += at - before;
    active += change;
    before = at;
  }
  return covered;
}

namespace {

/// The same intervals, without overlaps.
std::vector<Interval> merged(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> result;
  for (const Interval& interval : intervals) {
    if (result.empty() || interval.first > result.back().second)
      result.push_back(interval);
    else
      result.back().second = std::max(result.back().second, interval.second);
  }
  return result;
}

}  // namespace

EngineShares engine_shares(const std::vector<Interval>& copy_in,
                           const std::vector<Interval>& compute,
                           const std::vector<Interval>& copy_out) {
  std::vector<Interval> all;
  for (const std::vector<Interval>* engine : {&copy_in, &compute, &copy_out}) {
    const std::vector<Interval> parts = merged(*engine);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  if (all.empty()) return {};
  double begin = all.front().first, end = all.front().second;
  for (const Interval& interval : all) {
    begin = std::min(begin, interval.first);
    end = std::max(end, interval.second);
  }
  if (end <= begin) return {};
  const double length = end - begin;
  return {.copy_in = covered_by(1, copy_in) / length,
          .compute = covered_by(1, compute) / length,
          .copy_out = covered_by(1, copy_out) / length,
          .overlap = covered_by(2, all) / length};
}

}  // namespace eckart::bench
