#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "core/image.hpp"

namespace eckart::preparation {

/// Binary digits after the point of a weight for integer samples. With 22 digits, a sum over 8-bit
/// samples fits into 32 bits. With 30 digits, the error of a sum over 16-bit samples is far below
/// half a level.
constexpr int fraction_bits(Depth depth) { return depth == Depth::u8 ? 22 : 30; }

/// The filter along one side of an image: how each output sample is a weighted sum of consecutive
/// input samples.
struct FilterWeights {
  struct Window {
    int first = 0;  ///< input sample
    int count = 0;  ///< number of input samples, at most max_count
  };
  int max_count = 0;
  std::vector<Window> windows;  ///< one for each output sample
  /// max_count for each output sample: fixed-point numbers for integer samples.
  std::vector<std::int32_t> weights;
  std::vector<double> float_weights;  ///< the same for float samples

  std::span<const std::int32_t> of(std::size_t output) const { return window_of(weights, output); }
  std::span<const double> float_of(std::size_t output) const {
    return window_of(float_weights, output);
  }
  std::size_t bytes() const;

 private:
  template <class Weight>
  std::span<const Weight> window_of(const std::vector<Weight>& all, std::size_t output) const {
    return {&all[output * std::size_t(max_count)], std::size_t(windows[output].count)};
  }
};

/// Returns the weights that resize `in` samples to `out` samples: the window of Lanczos with a = 3,
/// as wide as 3 samples of the input or of the output, whichever is wider. Windows are cut at the
/// ends of the input, and the weights of a window have the sum 1. Windows, weights and their
/// rounding are those of Image.resize(LANCZOS) of Pillow. `in` and `out` must be positive.
FilterWeights lanczos_weights(int in, int out, Depth depth);

/// Keeps the weights of the sizes that were used last. Thread-safe.
class WeightCache {
 public:
  std::shared_ptr<const FilterWeights> get(int in, int out, Depth depth);

  /// The maximum of bytes(), unless the weights of one size alone are larger.
  static constexpr std::size_t kMaxBytes = std::size_t(16) << 20;
  std::size_t bytes() const;

 private:
  using Key = std::tuple<int, int, Depth>;  // in, out
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const FilterWeights>> weights_;
  std::size_t bytes_ = 0;
};

}  // namespace eckart::preparation
