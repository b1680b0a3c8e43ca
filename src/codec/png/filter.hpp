#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"

namespace eckart::codec::png {

/// The filters of rows. The code is the first byte of a row. PNG (third edition), 9.2.
enum class Filter : std::uint8_t { none, sub, up, average, paeth };

/// The Paeth predictor without branches, in 16 bits, so that compilers make vector instructions of
/// it. PNG (third edition), 9.4.
ECKART_HOST_DEVICE inline std::uint8_t predict_paeth(std::int16_t left, std::int16_t above,
                                                     std::int16_t above_left) {
  const auto distance = [](std::int16_t a, std::int16_t b) {
    return std::int16_t(a > b ? a - b : b - a);
  };
  const std::int16_t sum = std::int16_t(left + above), twice = std::int16_t(2 * above_left);
  const std::int16_t to_left = distance(above, above_left), to_above = distance(left, above_left),
                     to_above_left = distance(sum, twice);
  const std::int16_t vertical = to_above <= to_above_left ? above : above_left;
  const std::int16_t nearest = to_above <= to_above_left ? to_above : to_above_left;
  return std::uint8_t(to_left <= nearest ? left : vertical);
}

/// A row of samples as bytes of the file, and the row above it; zeros above the first.
struct Row {
  const std::uint8_t* bytes;
  const std::uint8_t* above;
  std::size_t size;         ///< bytes of a row
  std::size_t pixel_bytes;  ///< distance of a sample from its left neighbor
};

/// Writes the `row.size` residuals of the filter, without its code.
void filter_row(const Row& row, Filter filter, std::uint8_t* to);

}  // namespace eckart::codec::png
