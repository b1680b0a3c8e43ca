#include "codec/png/filter.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace eckart::codec::png {
namespace {

/// The residuals from byte `from` on, where samples have a left neighbor, and of those that have
/// none.
template <class Predict>
void write_residuals(const Row& row, std::size_t from, std::uint8_t* __restrict to,
                     const Predict& predict) {
  const std::uint8_t* const bytes = row.bytes;
  const std::uint8_t* const above = row.above;
  const std::size_t size = row.size, distance = row.pixel_bytes;
  for (std::size_t i = 0; i < distance; ++i)
    to[i] = std::uint8_t(bytes[i] - predict(0, above[i], 0));
  for (std::size_t i = from; i < size; ++i)
    to[i] = std::uint8_t(bytes[i] - predict(bytes[i - distance], above[i], above[i - distance]));
}

#ifdef __SSE2__
constexpr std::size_t kStep = 16;  // bytes of a vector

__m128i load(const std::uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
__m128i is_at_least(__m128i a, __m128i b) { return _mm_cmpeq_epi8(_mm_max_epu8(a, b), a); }
__m128i distance(__m128i a, __m128i b) {
  return _mm_or_si128(_mm_subs_epu8(a, b), _mm_subs_epu8(b, a));
}
__m128i choose(__m128i condition, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(condition, yes), _mm_andnot_si128(condition, no));
}

/// predict_paeth() of 16 samples, in bytes. If above_left is between left and above, the distance
/// to it is the difference of the distances to them; otherwise it is their sum, and above_left is
/// not the nearest: then it counts as 255.
__m128i predict_paeth_of_vector(__m128i left, __m128i above, __m128i above_left) {
  const __m128i to_left = distance(above, above_left), to_above = distance(left, above_left);
  const __m128i is_outside =
      _mm_cmpeq_epi8(is_at_least(left, above_left), is_at_least(above, above_left));
  const __m128i to_above_left = _mm_or_si128(distance(to_left, to_above), is_outside);
  const __m128i vertical = choose(is_at_least(to_above_left, to_above), above, above_left);
  const __m128i nearest = _mm_min_epu8(to_above, to_above_left);
  return choose(is_at_least(nearest, to_left), left, vertical);
}

/// The residuals of Paeth for whole vectors of samples that have a left neighbor. Returns the
/// number of bytes from the start of the row that are written, or not to be predicted this way.
std::size_t write_paeth_residuals(const Row& row, std::uint8_t* to) {
  std::size_t i = row.pixel_bytes;
  for (; i + kStep <= row.size; i += kStep) {
    const std::size_t before = i - row.pixel_bytes;
    const __m128i predicted = predict_paeth_of_vector(load(row.bytes + before), load(row.above + i),
                                                      load(row.above + before));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_sub_epi8(load(row.bytes + i), predicted));
  }
  return i;
}
#else
std::size_t write_paeth_residuals(const Row& row, std::uint8_t*) { return row.pixel_bytes; }
#endif

}  // namespace

void filter_row(const Row& row, Filter filter, std::uint8_t* to) {
  switch (filter) {
    case Filter::none:
      return write_residuals(row, row.pixel_bytes, to, [](int, int, int) { return 0; });
    case Filter::sub:
      return write_residuals(row, row.pixel_bytes, to, [](int left, int, int) { return left; });
    case Filter::up:
      return write_residuals(row, row.pixel_bytes, to, [](int, int above, int) { return above; });
    case Filter::average:
      return write_residuals(row, row.pixel_bytes, to,
                             [](int left, int above, int) { return (left + above) / 2; });
    case Filter::paeth:
      return write_residuals(row, write_paeth_residuals(row, to), to, predict_paeth);
  }
}

}  // namespace eckart::codec::png
