#include "tests/fuzz/decode_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "tests/fuzz/target.hpp"

namespace {
unsigned char new_array_fill_byte = 0;  // initial value of the bytes of new arrays
}

// The pixels of an image are such an array. Pixels that a decoder does not write show as a
// difference.
void* operator new[](std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return std::memset(memory, new_array_fill_byte, size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace eckart::fuzz {
namespace {

/// Returns the result of `action`, or nothing if it throws an ItemError with one of these reasons.
/// Other exceptions, including out of memory, end the process.
template <class Action>
auto catch_item_error(std::initializer_list<FailureReason> reasons, Action&& action)
    -> std::optional<decltype(action())> {
  try {
    return action();
  } catch (const ItemError& error) {
    require(std::find(reasons.begin(), reasons.end(), error.reason()) != reasons.end(),
            "the reason is allowed in this step: " + std::string(to_string(error.reason())));
    require(is_one_line_message(error.what()), "a rejection has a one-line message");
    note(error.what());
    return std::nullopt;
  }
}

std::optional<Picture> decoded(const codec::Codec& codec, std::span<const std::byte> file,
                               unsigned char into) {
  new_array_fill_byte = into;
  // Only decoding shows a rotation that needs memory.
  return catch_item_error(
      {FailureReason::corrupt, FailureReason::unsupported, FailureReason::too_large},
      [&] { return codec.decode(file, kLimits); });
}

ImageShape transposed(ImageShape shape) {
  std::swap(shape.rows, shape.cols);
  return shape;
}

}  // namespace

bool same_pixels(const Image& a, const Image& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

const codec::Codec* find_codec(std::span<const std::byte> file) {
  const auto codec = catch_item_error(
      {FailureReason::empty_file, FailureReason::not_an_image, FailureReason::unsupported},
      [&] { return &codec::detect_codec(file); });
  return codec.value_or(nullptr);
}

std::optional<ImageShape> checked_shape(const codec::Codec& codec,
                                        std::span<const std::byte> file) {
  const auto header = catch_item_error(
      {FailureReason::too_large, FailureReason::unsupported, FailureReason::corrupt},
      [&] { return codec::admit(codec, file, kLimits); });
  if (!header) return std::nullopt;
  const std::optional<ImageShape> shape = header->shape;
  require(shape->bytes() <= header->min_decode_bytes &&
              header->min_decode_bytes <= header->max_decode_bytes,
          "the decode memory includes the pixels");
  require(shape->rows > 0 && shape->cols > 0 &&
              std::max(shape->rows, shape->cols) <= kLimits.side &&
              std::int64_t(shape->rows) * shape->cols <= kLimits.pixels,
          "an accepted image is within the limits");
  require(shape->channels == 1 || shape->channels == 3, "an image is gray or RGB");
  const bool may_be_16_bits =
      codec.format == ImageFormat::png || codec.format == ImageFormat::tiff ||
      codec.format == ImageFormat::pnm || codec.format == ImageFormat::dicom ||
      codec.format == ImageFormat::npz;
  require(shape->depth == Depth::u8 || may_be_16_bits,
          "samples have 8 bits, or 16 in some formats");
  require(!is_float(shape->depth) || codec.format == ImageFormat::tiff ||
              codec.format == ImageFormat::npz,
          "only TIFF and factors have floats");
  return shape;
}

void check_decode(const codec::Codec& codec, std::span<const std::byte> file) {
  const auto announced = checked_shape(codec, file);
  if (!announced) return;
  const auto picture = decoded(codec, file, 0x00);
  const auto again = decoded(codec, file, 0xA5);
  require(picture.has_value() == again.has_value(), "decoding is repeatable");
  if (!picture) return;
  const ImageShape& shape = picture->pixels.shape();
  require(shape == *announced || shape == transposed(*announced),
          "an image has the declared shape");
  require(picture->alpha.empty() ||
              picture->alpha.shape() == ImageShape{shape.rows, shape.cols, 1, shape.depth},
          "alpha has the shape of the pixels");
  require(same_pixels(picture->pixels, again->pixels) && same_pixels(picture->alpha, again->alpha),
          "both decodings give the same samples");
}

}  // namespace eckart::fuzz
