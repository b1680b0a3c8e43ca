#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/backend/cuda/bench/timer.hpp"

namespace eckart::compute::cuda::bench {

/// Milliseconds of one call, by the clock of the host, after some calls that do not count.
inline Spread milliseconds(int repeats, const std::function<void()>& work) {
  constexpr int kWarmUp = 3;
  std::vector<double> ms;
  for (int i = 0; i < kWarmUp + repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (i >= kWarmUp) ms.push_back(took.count());
  }
  std::ranges::sort(ms);
  return {ms[ms.size() / 2], ms.front(), ms.back()};
}

/// With the keys median, min and max.
inline nlohmann::json json_of(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}};
}

}  // namespace eckart::compute::cuda::bench
