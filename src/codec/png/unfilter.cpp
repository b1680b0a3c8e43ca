// Three filters depend on the pixel to the left. Paeth takes about ten instructions, each of which
// waits for the one before. Therefore several rows are unfiltered at the same time, each a pixel
// behind the row above it: their instructions do not wait for each other.
#include "codec/png/unfilter.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "codec/png/filter.hpp"

namespace eckart::codec::png {
namespace {

using ByteVector [[gnu::vector_size(16)]] = std::uint8_t;

ByteVector distance(ByteVector a, ByteVector b) { return (a > b ? a : b) - (a < b ? a : b); }

/// Returns which of left, above and above_left is nearest to left + above - above_left, preferred
/// in this order. If above_left is between the others, its distance is the difference of theirs;
/// otherwise, it is at least as far as both.
ByteVector paeth(ByteVector left, ByteVector above, ByteVector above_left) {
  const ByteVector to_left = distance(above, above_left), to_above = distance(left, above_left);
  const ByteVector nearest = to_left < to_above ? to_left : to_above;
  const auto is_beside = (left < above_left) == (above < above_left);
  const auto is_farther = distance(to_left, to_above) >= nearest;
  const ByteVector neighbor = to_left == nearest ? left : above;
  return (is_beside | is_farther) ? neighbor : above_left;
}

ByteVector average(ByteVector a, ByteVector b) { return (a & b) + ((a ^ b) >> 1); }

/// A vector with a pixel of each of kRows rows, in a word.
template <std::size_t kPixelBytes>
struct Lanes {
  using Word =
      std::conditional_t<(kPixelBytes > 4), std::uint64_t,
                         std::conditional_t<(kPixelBytes > 2), std::uint32_t, std::uint16_t>>;
  static constexpr std::size_t kRows = sizeof(ByteVector) / sizeof(Word);
  using Words [[gnu::vector_size(16)]] = Word;
};

/// Unfilters a pixel of each of kRows rows at a time.
template <class Lane>
struct RowGroup {
  using Word = typename Lane::Word;
  using Words = typename Lane::Words;

  // All bits of a row that uses this neighbor, or its average with another; otherwise 0. With zeros
  // in place of neighbors, Paeth equals None, Sub and Up.
  Words uses_left{}, uses_above{}, uses_above_left{}, uses_average{};
  Words left{}, above_left{};

  void set_filter(std::size_t row, Filter filter) {
    constexpr auto kAll = Word(~Word(0));
    uses_left[row] = filter == Filter::sub || filter == Filter::paeth ? kAll : 0;
    uses_above[row] = filter == Filter::up || filter == Filter::paeth ? kAll : 0;
    uses_above_left[row] = filter == Filter::paeth ? kAll : 0;
    uses_average[row] = filter == Filter::average ? kAll : 0;
  }

  void advance(Words residual, Words above) {
    const ByteVector averaged =
        average(ByteVector(left), ByteVector(above)) & ByteVector(uses_average);
    const ByteVector predicted = paeth(ByteVector(left & uses_left), ByteVector(above & uses_above),
                                       ByteVector(above_left & uses_above_left));
    above_left = above;
    left = Words((ByteVector(residual) + averaged) + predicted);
  }
};

/// Unfilters kRows rows at the same time: in step i, row k is at its pixel i - k. Two vectors,
/// because the instructions of one wait for each other.
template <std::size_t kPixelBytes>
class Wavefront {
 public:
  static constexpr std::size_t kRows = 2 * Lanes<kPixelBytes>::kRows;

  /// `above`: the row above the first, unfiltered.
  explicit Wavefront(const std::byte* above) : above_(above) {}

  /// All rows must be set. Behind `from` and `to`, 7 more bytes may be read and written.
  void set_row(std::size_t row, Filter filter, const std::byte* from, std::byte* to) {
    groups_[row / kLanes].set_filter(row % kLanes, filter);
    from_[row] = from;
    to_[row] = to;
  }

  void unfilter(std::size_t pixels) const {
    Wavefront rows = *this;  // stays in registers, because the stores to rows cannot change it
    const std::size_t full = std::min(pixels, kRows - 1);
    std::size_t step = 0;
    for (; step < full; ++step) rows.template advance<true>(step, pixels);
    for (; step < pixels; ++step) rows.template advance<false>(step, pixels);
    for (; step < pixels + kRows - 1; ++step) rows.template advance<true>(step, pixels);
  }

 private:
  static constexpr std::size_t kLanes = Lanes<kPixelBytes>::kRows;
  using Word = typename Lanes<kPixelBytes>::Word;
  using Words = typename Lanes<kPixelBytes>::Words;

  /// `kAtEnds`: some rows have no pixel in this step.
  template <bool kAtEnds>
  [[gnu::always_inline]] void advance(std::size_t step, std::size_t pixels) {
    const auto load = [&](const std::byte* row, std::size_t index) {
      Word pixel = 0;
      if (!kAtEnds || step - index < pixels)
        std::memcpy(&pixel, row + (step - index) * kPixelBytes, sizeof pixel);
      return pixel;
    };
    const auto store = [&](std::size_t index, Word pixel) {
      if (!kAtEnds || step - index < pixels)
        std::memcpy(to_[index] + (step - index) * kPixelBytes, &pixel, sizeof pixel);
    };
    const auto advance_group = [&]<std::size_t... kLane>(
        auto& group, std::size_t first, Words above, std::index_sequence<kLane...>) {
      const Words residual{load(from_[first + kLane], first + kLane)...};
      // One lane further, and zero in the first.
      const Words shifted = __builtin_shufflevector(group.left, Words{},
                                                    (kLane == 0 ? int(kLanes) : int(kLane) - 1)...);
      group.advance(residual, shifted | above);
      (store(first + kLane, group.left[kLane]), ...);
    };
    constexpr auto kAllLanes = std::make_index_sequence<kLanes>();
    const Word last = groups_[0].left[kLanes - 1];
    advance_group(groups_[0], 0, Words{load(above_, 0)}, kAllLanes);
    advance_group(groups_[1], kLanes, Words{last}, kAllLanes);
  }

  std::array<RowGroup<Lanes<kPixelBytes>>, 2> groups_;
  const std::byte* above_;
  std::array<const std::byte*, kRows> from_{};
  std::array<std::byte*, kRows> to_{};
};

/// Unfilters a row with the filter Up.
void add_rows(const std::byte* residuals, const std::byte* above, std::size_t bytes,
              std::byte* __restrict to) {
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = std::byte(std::uint8_t(residuals[i]) + std::uint8_t(above[i]));
}

}  // namespace

RowUnfilter::RowUnfilter(std::size_t row_bytes, std::size_t pixel_bytes)
    : row_bytes_(row_bytes),
      pixel_bytes_(pixel_bytes),
      stride_(row_bytes + kPaddingBytes),
      rows_(std::make_unique<std::byte[]>((kMaxRows + 1) * stride_)) {}

template <std::size_t kPixelBytes>
int RowUnfilter::unfilter_together(const std::byte* filtered, int rows) {
  constexpr int kRows = Wavefront<kPixelBytes>::kRows;
  static_assert(kRows <= kMaxRows);
  Wavefront<kPixelBytes> wavefront(row_at(0));
  const int count = std::min(rows, kRows);
  for (int i = 0; i < kRows; ++i) {
    const std::byte* const from = filtered + std::size_t(std::min(i, count - 1)) * (row_bytes_ + 1);
    const auto filter = i < count ? Filter(*from) : Filter::none;
    if (filter > Filter::paeth) return 0;
    wavefront.set_row(std::size_t(i), filter, from + 1, row_at(i + 1));
  }
  wavefront.unfilter(row_bytes_ / kPixelBytes);
  return count;
}

int RowUnfilter::unfilter(const std::byte* filtered, int rows) {
  if (last_ > 0) std::memcpy(row_at(0), row_at(last_), row_bytes_);
  last_ = unfilter_next(filtered, rows);
  return last_;
}

int RowUnfilter::unfilter_next(const std::byte* filtered, int rows) {
  const std::byte* const residuals = filtered + 1;
  std::byte* const to = row_at(1);
  if (Filter(*filtered) == Filter::none) {
    std::memcpy(to, residuals, row_bytes_);
    return 1;
  }
  if (Filter(*filtered) == Filter::up) {
    add_rows(residuals, row_at(0), row_bytes_, to);
    return 1;
  }
  switch (pixel_bytes_) {
    case 1:
      return unfilter_together<1>(filtered, rows);
    case 2:
      return unfilter_together<2>(filtered, rows);
    case 3:
      return unfilter_together<3>(filtered, rows);
    case 4:
      return unfilter_together<4>(filtered, rows);
    case 6:
      return unfilter_together<6>(filtered, rows);
    default:
      return unfilter_together<8>(filtered, rows);
  }
}

}  // namespace eckart::codec::png
