#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace eckart::test {

/// How long wait_for() waits for an event that does not come; then the test has failed.
inline constexpr std::chrono::seconds kWaitDeadline{100};

/// The only place where tests poll. For state that no test can be notified of: files, logs and
/// answers of another process, and counters of a thread of the code under test. Whether `event`
/// held before the deadline. The pauses leave the cores to what is waited for; the result never
/// depends on their length.
template <class Event>
[[nodiscard]] bool wait_for(Event&& event) {
  using std::chrono::microseconds;
  const auto deadline = std::chrono::steady_clock::now() + kWaitDeadline;
  for (microseconds pause{20}; !event(); pause = std::min(2 * pause, microseconds{1000})) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace eckart::test
