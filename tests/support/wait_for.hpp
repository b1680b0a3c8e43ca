#pragma once

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
  constexpr int kPollsWithoutPause = 200;
  const auto deadline = std::chrono::steady_clock::now() + kWaitDeadline;
  for (int polls = 0; !event(); ++polls) {
    if (polls < kPollsWithoutPause) {
      std::this_thread::yield();
    } else if (std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace eckart::test
