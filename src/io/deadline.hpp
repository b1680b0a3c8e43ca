#pragma once

#include <cstdint>

namespace eckart::io {

/// The end of the time that decoding an image may take. Counted is what the thread that made it
/// spends on a core, so that a stopped process, a busy machine or a slow disk is not held against
/// the file.
class Deadline {
 public:
  /// From now on. Zero or less has passed already.
  explicit Deadline(std::int64_t seconds);

  /// May be asked often: it looks at the clock each 16th time. Once true, it stays so.
  bool passed() {
    if (!has_passed_ && ++calls_ % 16 == 0) read_clock();
    return has_passed_;
  }

  /// Throws ItemError(too_large), which names the limit and its key.
  [[noreturn]] void throw_too_large() const;

 private:
  void read_clock();

  std::int64_t seconds_;
  std::int64_t end_ns_;
  unsigned calls_ = 0;
  bool has_passed_;
};

}  // namespace eckart::io
