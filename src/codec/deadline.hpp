#pragma once

#include <cstdint>

namespace eckart::codec {

/// A limit on the CPU time of decoding an image. Only the CPU time of the thread that constructed
/// it counts. A stopped process, a busy machine or a slow disk does not use it up.
class Deadline {
 public:
  /// Returns nanoseconds.
  using ReadClock = std::int64_t (*)();
  /// The CPU time of the calling thread.
  static std::int64_t thread_time_ns();

  /// The time starts now. If `seconds` is not positive, the deadline has passed.
  explicit Deadline(std::int64_t seconds, ReadClock clock = &thread_time_ns);

  /// Cheap: reads the clock at every 16th call. Once true, it stays true.
  bool passed() {
    if (!has_passed_ && ++calls_ % 16 == 0) read_clock();
    return has_passed_;
  }

  /// As passed(), at this moment.
  bool passed_now() {
    if (!has_passed_) read_clock();
    return has_passed_;
  }

  /// Returns whether this time is left at this moment.
  bool has_left(std::int64_t ns) const { return !has_passed_ && end_ns_ - clock_() >= ns; }

  /// Throws ItemError(too_large) with the limit and its setting.
  [[noreturn]] void throw_too_large() const;

 private:
  void read_clock();

  std::int64_t seconds_;
  ReadClock clock_;
  std::int64_t end_ns_;
  unsigned calls_ = 0;
  bool has_passed_;
};

}  // namespace eckart::codec
