#include "bench/rate.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "core/instant.hpp"
#include "flow/workers.hpp"
#include "machine/machine_info.hpp"

namespace eckart::bench {

Rate& Rate::operator+=(const Rate& other) {
  count += other.count;
  wall_s += other.wall_s;
  cpu_s += other.cpu_s;
  return *this;
}

Rate measure_work(const std::function<void()>& work) {
  const double cpu_before_s = machine::process_usage().cpu_s;
  const Instant begin = Clock::now();
  work();
  const double wall_s = std::chrono::duration<double>(Clock::now() - begin).count();
  return {.count = 0, .wall_s = wall_s, .cpu_s = machine::process_usage().cpu_s - cpu_before_s};
}

Rate measure_on_threads(int threads, std::int64_t count,
                        const std::function<void(int thread)>& body) {
  std::mutex mutex;
  std::exception_ptr error;
  Rate rate = measure_work([&] {
    flow::Workers workers("bench", threads, body, [&](std::exception_ptr thrown) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::move(thrown);
    });
    workers.join();
  });
  if (error) std::rethrow_exception(error);
  rate.count = count;
  return rate;
}

}  // namespace eckart::bench
