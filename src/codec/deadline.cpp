#include "codec/deadline.hpp"

#include <ctime>
#include <string>

#include "core/error.hpp"

namespace eckart::codec {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1000000000;

}  // namespace

std::int64_t Deadline::thread_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t(time.tv_sec) * kNanosecondsPerSecond + time.tv_nsec;
}

Deadline::Deadline(std::int64_t seconds, ReadClock clock)
    : seconds_(seconds),
      clock_(clock),
      end_ns_(clock() + seconds * kNanosecondsPerSecond),
      has_passed_(seconds <= 0) {}

void Deadline::read_clock() { has_passed_ = clock_() >= end_ns_; }

void Deadline::throw_too_large() const {
  throw ItemError(
      FailureReason::too_large,
      "decoding needs more CPU seconds than limits.decode_s = " + std::to_string(seconds_));
}

}  // namespace eckart::codec
