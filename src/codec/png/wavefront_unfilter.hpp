#pragma once

// Reversing the filters of a PNG by the threads of a warp, for CPU and GPU. PNG (third edition), 9.

#include <cstddef>
#include <cstdint>

#include "codec/png/filter.hpp"
#include "codec/png/inflate.hpp"
#include "core/host_device.hpp"

namespace eckart::codec::png {

/// The sample that the filter predicts. All predictions are made, because the rows of a warp have
/// different filters.
ECKART_HOST_DEVICE inline int predict(Filter filter, int left, int above, int above_left) {
  const int paeth =
      predict_paeth(std::int16_t(left), std::int16_t(above), std::int16_t(above_left));
  const int average = (left + above) / 2;
  int prediction = filter == Filter::sub ? left : 0;
  if (filter == Filter::up) prediction = above;
  if (filter == Filter::average) prediction = average;
  if (filter == Filter::paeth) prediction = paeth;
  return prediction;
}

/// Unfilters with the lanes of a warp, a row by each of them. A pixel depends on its left neighbor
/// and on the row above. So each lane is a group of pixels behind the lane of the row above: the
/// group that a lane has made is passed on to the next lane, for its next step. What a step needs
/// from memory is read a step before.
template <class Warp, int kChannels>
class WavefrontUnfilter {
 public:
  ECKART_HOST_DEVICE WavefrontUnfilter(Warp& warp, const InflatedRows& rows, std::uint8_t* pixels)
      : warp_(warp), rows_(rows), row_bytes_(rows.row_bytes - 1), pixels_(pixels) {}

  ECKART_HOST_DEVICE void run() {
    for (int first = 0; first < rows_.rows; first += Warp::kLanes) unfilter_rows(first);
  }

 private:
  template <class T>
  using PerLane = typename Warp::template PerLane<T>;

  /// Consecutive pixels of a row, as words of 4 bytes.
  static constexpr int kGroupPixels = 4, kGroupBytes = kGroupPixels * kChannels;
  struct Group {
    std::uint32_t words[kChannels]{};

    ECKART_HOST_DEVICE int byte(int i) const { return int(words[i / 4] >> (i % 4 * 8) & 255); }
    ECKART_HOST_DEVICE void set_byte(int i, int value) {
      words[i / 4] |= std::uint32_t(value) << (i % 4 * 8);
    }
  };
  struct LaneState {
    Filter filter;
    Group next;        ///< the filtered bytes of the next step
    Group next_above;  ///< of the first lane: the pixels above them
    int left[kChannels]{}, above_left[kChannels]{};
  };

  ECKART_HOST_DEVICE void unfilter_rows(int first) {
    const int groups = (row_bytes_ + kGroupBytes - 1) / kGroupBytes;
    PerLane<LaneState> states;
    warp_.each([&](int lane) {
      if (!has_row(first, lane)) return;
      LaneState& state = states[lane];
      state.filter = Filter{rows_.bytes[std::ptrdiff_t(first + lane) * rows_.row_bytes]};
      state.next = load_filtered(first + lane, 0);
      if (reads_above(first, lane)) state.next_above = load_above(first, 0);
    });
    PerLane<std::uint32_t> made[kChannels];
    for (int step = 0; step < groups + Warp::kLanes - 1; ++step) {
      PerLane<std::uint32_t> above[kChannels];
      for (int i = 0; i < kChannels; ++i) above[i] = warp_.before(made[i]);
      warp_.each([&](int lane) {
        const int group = step - lane;
        if (!has_row(first, lane) || group < 0 || group >= groups) return;
        LaneState& state = states[lane];
        const Group from = state.next;
        Group pixels_above = state.next_above;
        if (lane > 0)
          for (int i = 0; i < kChannels; ++i) pixels_above.words[i] = above[i][lane];
        if (group + 1 < groups) {
          const int offset = (group + 1) * kGroupBytes;
          state.next = load_filtered(first + lane, offset);
          if (reads_above(first, lane)) state.next_above = load_above(first, offset);
        }
        const Group result =
            unfilter_group(first + lane, group * kGroupBytes, from, pixels_above, state);
        for (int i = 0; i < kChannels; ++i) made[i][lane] = result.words[i];
      });
    }
  }

  ECKART_HOST_DEVICE bool has_row(int first, int lane) const { return first + lane < rows_.rows; }
  /// The row above the first lane's is in memory. Above the first row are zeros.
  ECKART_HOST_DEVICE static bool reads_above(int first, int lane) { return lane == 0 && first > 0; }

  ECKART_HOST_DEVICE Group unfilter_group(int row, int offset, const Group& from,
                                          const Group& above, LaneState& state) const {
    std::uint8_t* const to = pixels_ + std::ptrdiff_t(row) * row_bytes_;
    Group made;
    for (int i = 0; i < kGroupBytes; ++i) {
      const int c = i % kChannels, up = above.byte(i);
      state.left[c] =
          (from.byte(i) + predict(state.filter, state.left[c], up, state.above_left[c])) & 255;
      state.above_left[c] = up;
      made.set_byte(i, state.left[c]);
      if (offset + i < row_bytes_) to[offset + i] = std::uint8_t(state.left[c]);
    }
    return made;
  }

  /// Bytes after the last row have any value.
  ECKART_HOST_DEVICE Group load_filtered(int row, int offset) const {
    const int begin = row * rows_.row_bytes + 1 + offset, last = (int(rows_.size()) - 1) / 4;
    const int first = begin / 4, shift = begin % 4 * 8;
    Group group;
    std::uint32_t word = load_word(first);
    for (int i = 0; i < kChannels; ++i) {
      const int index = first + i + 1 < last ? first + i + 1 : last;
      const std::uint32_t next = load_word(index);
      group.words[i] = std::uint32_t((std::uint64_t(next) << 32 | word) >> shift);
      word = next;
    }
    return group;
  }

  ECKART_HOST_DEVICE std::uint32_t load_word(int index) const {
    return word_at(rows_.bytes + std::ptrdiff_t(index) * 4);
  }

  /// Zeros after the end of the row.
  ECKART_HOST_DEVICE Group load_above(int row, int offset) const {
    const std::uint8_t* const above = pixels_ + std::ptrdiff_t(row - 1) * row_bytes_;
    Group group;
    for (int i = 0; i < kGroupBytes; ++i)
      if (offset + i < row_bytes_) group.set_byte(i, above[offset + i]);
    return group;
  }

  Warp& warp_;
  const InflatedRows rows_;
  const int row_bytes_;  ///< without the filter byte
  std::uint8_t* const pixels_;
};

/// Reverses the filters of rows with 1 or 3 samples of 8 bits per pixel. Their filter bytes are
/// valid, as inflate() checks. Up to 3 bytes after the last row may be read. `pixels`: the rows
/// without filter bytes.
template <class Warp>
ECKART_HOST_DEVICE void unfilter(Warp& warp, const InflatedRows& rows, int channels,
                                 std::uint8_t* pixels) {
  if (channels == 1) {
    WavefrontUnfilter<Warp, 1>(warp, rows, pixels).run();
  } else {
    WavefrontUnfilter<Warp, 3>(warp, rows, pixels).run();
  }
}

}  // namespace eckart::codec::png
