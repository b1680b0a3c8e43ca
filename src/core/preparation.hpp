#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/enum_names.hpp"
#include "core/image.hpp"

namespace eckart {

/// The size that images are resized to: their own, width x height, or a maximum of the longer side.
struct TargetSize {
  static constexpr int kMaxSide = 65535;

  int width = 0, height = 0;  ///< both positive, or both 0
  int max_side = 0;           ///< positive, or 0; a larger image keeps its ratio

  static TargetSize exactly(int width, int height) { return {width, height, 0}; }
  static TargetSize at_most(int side) { return {0, 0, side}; }
  bool is_set() const { return width > 0 || max_side > 0; }
  friend bool operator==(const TargetSize&, const TargetSize&) = default;
};

/// Parses "WxH", "max:N" or "", with sides from 1 to kMaxSide. Returns nullopt for other texts.
std::optional<TargetSize> parse_target_size(std::string_view text);
/// Returns the text that parse_target_size() parses to this size.
std::string to_string(const TargetSize& size);

/// Returns rows and cols after resizing; the rest is unchanged. `max_side` rounds the shorter side
/// as Image.thumbnail() of Pillow does: up or down, whichever is nearer to the ratio.
ImageShape resized_shape(ImageShape shape, const TargetSize& size);

/// How the samples of an image are mapped to the range of its depth.
enum class Normalization {
  none,
  minmax,  ///< the smallest sample becomes 0 and the largest becomes the peak
};

constexpr auto enum_names(Normalization) {
  return std::to_array<EnumName<Normalization>>(
      {{Normalization::none, "none"}, {Normalization::minmax, "minmax"}});
}

/// What is done to an image between decoding and decomposition, in the order of the members.
struct Preparation {
  bool gray = false;
  TargetSize size{};
  Normalization normalize = Normalization::none;

  friend bool operator==(const Preparation&, const Preparation&) = default;
};

/// Returns the shape of an image of this shape after its preparation.
ImageShape prepared_shape(ImageShape shape, const Preparation& preparation);

}  // namespace eckart
