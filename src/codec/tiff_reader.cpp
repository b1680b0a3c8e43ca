#include "codec/tiff_reader.hpp"

#include <algorithm>
#include <array>

namespace eckart::codec {

TiffReader::TiffReader(std::span<const std::byte> data)
    : data_(data), is_little_endian_(!data.empty() && data[0] == std::byte('I')) {}

bool TiffReader::is_valid() const {
  constexpr std::uint32_t kMagic = 42;
  return data_.size() >= 8 && data_[0] == data_[1] &&
         (is_little_endian_ || data_[0] == std::byte('M')) && at(2, 2) == kMagic;
}

std::uint32_t TiffReader::at(std::size_t offset, std::size_t bytes) const {
  if (offset > data_.size() || data_.size() - offset < bytes) return 0;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | std::uint32_t(data_[offset + (is_little_endian_ ? bytes - 1 - i : i)]);
  return value;
}

std::size_t TiffReader::entries(std::size_t directory) const {
  if (directory + 2 > data_.size()) return 0;
  const std::size_t max_entries = (data_.size() - directory - 2) / kEntryBytes;
  return std::min<std::size_t>(at(directory, 2), max_entries);
}

std::optional<std::size_t> TiffReader::find(std::size_t directory, std::uint32_t tag) const {
  for (std::size_t i = 0; i < entries(directory); ++i) {
    if (at(entry(directory, i), 2) == tag) return entry(directory, i);
  }
  return std::nullopt;
}

std::uint64_t TiffReader::value_bytes(std::size_t entry) const {
  constexpr std::array<std::uint64_t, 13> kSizes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};  // by type
  const std::uint32_t type = type_of(entry);
  return type < kSizes.size() ? kSizes[type] * at(entry + 4, 4) : 0;
}

std::uint32_t TiffReader::integer(std::size_t entry) const {
  const std::uint32_t type = type_of(entry);
  if (type != TiffType::kShort && type != TiffType::kLong) return 0;
  return at(value_offset(entry), type == TiffType::kShort ? 2 : 4);
}

}  // namespace eckart::codec
