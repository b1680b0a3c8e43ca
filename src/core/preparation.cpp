#include "core/preparation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace eckart {
namespace {

constexpr std::string_view kMaxPrefix = "max:";

/// Returns 0 if the text is not a side.
int parse_side(std::string_view text) {
  int side = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, side);
  return error == std::errc{} && rest == end && side <= TargetSize::kMaxSide ? std::max(side, 0)
                                                                             : 0;
}

/// Returns the neighboring integer of `number` that has the smaller error, and at least 1.
template <class Error>
int round_by(double number, Error error) {
  const double down = std::floor(number), up = std::ceil(number);
  return std::max(int(error(up) < error(down) ? up : down), 1);
}

}  // namespace

std::optional<TargetSize> parse_target_size(std::string_view text) {
  if (text.empty()) return TargetSize{};
  if (text.starts_with(kMaxPrefix)) {
    const int side = parse_side(text.substr(kMaxPrefix.size()));
    return side > 0 ? std::optional(TargetSize::at_most(side)) : std::nullopt;
  }
  const std::size_t x = text.find('x');
  if (x == text.npos) return std::nullopt;
  const int width = parse_side(text.substr(0, x)), height = parse_side(text.substr(x + 1));
  if (width == 0 || height == 0) return std::nullopt;
  return TargetSize::exactly(width, height);
}

std::string to_string(const TargetSize& size) {
  if (size.max_side > 0) return std::string(kMaxPrefix) + std::to_string(size.max_side);
  if (!size.is_set()) return {};
  return std::to_string(size.width) + "x" + std::to_string(size.height);
}

ImageShape resized_shape(ImageShape shape, const TargetSize& size) {
  if (size.width > 0) {
    shape.rows = size.height;
    shape.cols = size.width;
  }
  const int side = size.max_side;
  if (side == 0 || std::max(shape.rows, shape.cols) <= side) return shape;
  const double ratio = double(shape.cols) / shape.rows;
  if (ratio <= 1) {
    shape.cols = round_by(side * ratio, [&](double cols) { return std::abs(ratio - cols / side); });
    shape.rows = side;
  } else {
    shape.rows = round_by(
        side / ratio, [&](double rows) { return rows == 0 ? 0 : std::abs(ratio - side / rows); });
    shape.cols = side;
  }
  return shape;
}

ImageShape prepared_shape(ImageShape shape, const Preparation& preparation) {
  if (preparation.gray) shape.channels = 1;
  return resized_shape(shape, preparation.size);
}

}  // namespace eckart
