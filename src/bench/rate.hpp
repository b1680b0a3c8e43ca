#pragma once

#include <cstdint>
#include <functional>

namespace eckart::bench {

/// How long some work on images, files or rows took.
struct Rate {
  std::int64_t count = 0;
  double wall_s = 0;
  double cpu_s = 0;  ///< user and system CPU time of the process
  double per_s() const { return wall_s > 0 ? double(count) / wall_s : 0; }
  double cpu_us_each() const { return count > 0 ? 1e6 * cpu_s / double(count) : 0; }
  Rate& operator+=(const Rate& other);
};

/// Measures `work` on this thread and those that it starts. The count is 0.
Rate measure_work(const std::function<void()>& work);
/// Measures body(thread) on `threads` new threads. Rethrows the first exception.
Rate measure_on_threads(int threads, std::int64_t count,
                        const std::function<void(int thread)>& body);

}  // namespace eckart::bench
