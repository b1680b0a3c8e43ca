#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace eckart::test {

/// Delays a thread for a short time: by sleeping, yielding, computing, or not at all, as determined
/// by the seed, `number` and `point`. This varies the order in which threads run; no result depends
/// on how long it takes.
class RandomDelay {
 public:
  explicit RandomDelay(std::uint64_t seed) : seed_(seed) {}

  void operator()(int number, int point) const {
    const std::uint64_t draw =
        mix(seed_ * 1000003 + std::uint64_t(number) * 101 + std::uint64_t(point));
    const int length = int(draw >> 8 & 255);
    switch (draw & 7) {
      case 0:
        return std::this_thread::sleep_for(std::chrono::microseconds(length));
      case 1:
        // Few: on a busy machine each gives all of a time slice away.
        for (int i = 0; i < length / 32; ++i) std::this_thread::yield();
        return;
      case 2:
        for (int i = 0; i < 100 * length; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
        return;
      default:
        return;
    }
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
  }

  const std::uint64_t seed_;
};

}  // namespace eckart::test
