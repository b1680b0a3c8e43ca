#include "codec/icc_profile.hpp"

#include <string_view>

#include "codec/png_chunk.hpp"

namespace eckart::codec {
namespace {

constexpr std::size_t kHeader = 128, kColorSpace = 16, kSignature = 36;

std::string_view text_at(std::span<const std::byte> profile, std::size_t offset) {
  return {reinterpret_cast<const char*>(profile.data()) + offset, 4};
}

}  // namespace

bool is_icc_profile(std::span<const std::byte> profile) {
  return profile.size() >= kHeader && big_endian_32(profile.first<4>()) == profile.size() &&
         text_at(profile, kSignature) == "acsp";
}

int icc_channels(std::span<const std::byte> profile) {
  if (!is_icc_profile(profile)) return 0;
  const std::string_view space = text_at(profile, kColorSpace);
  if (space == "GRAY") return 1;
  return space == "RGB " ? 3 : 0;
}

}  // namespace eckart::codec
