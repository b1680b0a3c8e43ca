#include "preparation/weighted_sum.hpp"

#include <algorithm>
#include <limits>

#include "preparation/filter_weights.hpp"

// The loops are compiled for several instruction sets, of which the first call takes the best.
// Their results are equal, because they compute with integers.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ECKART_FOR_EACH_ISA __attribute__((target_clones("avx2", "default")))
#else
#define ECKART_FOR_EACH_ISA
#endif

namespace eckart::preparation {
namespace {

/// `Sum` holds the sum without overflow.
template <class Sum, int kFractionBits, std::size_t kLanes, class T>
[[gnu::always_inline]] inline void sum_lanes(const T* in, std::size_t stride,
                                             std::span<const std::int32_t> weights, T* out) {
  Sum sums[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) sums[i] = Sum(1) << (kFractionBits - 1);
  for (const std::int32_t weight : weights) {
    for (std::size_t i = 0; i < kLanes; ++i) sums[i] += Sum(in[i]) * Sum(weight);
    in += stride;
  }
  for (std::size_t i = 0; i < kLanes; ++i)
    out[i] = T(std::clamp<Sum>(sums[i] >> kFractionBits, 0, std::numeric_limits<T>::max()));
}

template <class Sum, int kFractionBits, class T>
[[gnu::always_inline]] inline void sum_all(const T* in, std::size_t stride,
                                           std::span<const std::int32_t> weights, std::size_t n,
                                           T* out) {
  constexpr std::size_t kMany = 32, kSome = 8;
  std::size_t i = 0;
  for (; i + kMany <= n; i += kMany)
    sum_lanes<Sum, kFractionBits, kMany>(in + i, stride, weights, out + i);
  for (; i + kSome <= n; i += kSome)
    sum_lanes<Sum, kFractionBits, kSome>(in + i, stride, weights, out + i);
  for (; i < n; ++i) sum_lanes<Sum, kFractionBits, 1>(in + i, stride, weights, out + i);
}

}  // namespace

ECKART_FOR_EACH_ISA
void weighted_sum(const std::uint8_t* in, std::size_t stride, std::span<const std::int32_t> weights,
                  std::size_t n, std::uint8_t* out) {
  sum_all<std::int32_t, fraction_bits(Depth::u8)>(in, stride, weights, n, out);
}

ECKART_FOR_EACH_ISA
void weighted_sum(const std::uint16_t* in, std::size_t stride,
                  std::span<const std::int32_t> weights, std::size_t n, std::uint16_t* out) {
  sum_all<std::int64_t, fraction_bits(Depth::u16)>(in, stride, weights, n, out);
}

void weighted_sum(const float* in, std::size_t stride, std::span<const double> weights,
                  std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t w = 0; w < weights.size(); ++w) sum += in[i + w * stride] * weights[w];
    out[i] = float(sum);
  }
}

}  // namespace eckart::preparation
