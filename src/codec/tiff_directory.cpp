#include "codec/tiff_directory.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

namespace eckart::codec {
namespace {

constexpr std::size_t kInlineBytes = 4;  // values that fit are in the entry itself

/// Returns the bytes of the numbers of this type: a rational is two.
std::size_t number_bytes(std::uint32_t type) {
  constexpr std::array<std::size_t, 13> kSizes{1, 1, 1, 2, 4, 4, 1, 1, 2, 4, 4, 4, 8};
  return type < kSizes.size() ? kSizes[type] : 1;
}

/// Exchanges little-endian numbers and those of a TIFF structure.
void change_byte_order(std::span<std::byte> values, std::uint32_t type, bool is_little_endian) {
  if (is_little_endian) return;
  const std::size_t size = number_bytes(type);
  for (std::size_t i = 0; i + size <= values.size(); i += size)
    std::ranges::reverse(values.subspan(i, size));
}

}  // namespace

bool has_values(const TiffReader& tiff, std::span<const std::byte> data, std::size_t entry) {
  const std::uint64_t bytes = tiff.value_bytes(entry);
  const std::size_t offset = tiff.value_offset(entry);
  return bytes > 0 && offset <= data.size() && bytes <= data.size() - offset;
}

TiffEntry read_entry(std::span<const std::byte> data, std::size_t entry) {
  const TiffReader tiff(data);
  TiffEntry result{tiff.at(entry, 2), tiff.type_of(entry), tiff.at(entry + 4, 4)};
  const auto values = data.subspan(tiff.value_offset(entry), tiff.value_bytes(entry));
  result.values.assign(values.begin(), values.end());
  change_byte_order(result.values, result.type, tiff.is_little_endian());
  return result;
}

/// The entries of a directory as they are stored, in the order of their tags.
class TiffDirectoryWriter::Directory {
 public:
  explicit Directory(std::vector<std::byte>& data)
      : data_(data), is_little_endian_(TiffReader(data).is_little_endian()) {}

  /// Adds the entries of a directory in the data.
  void take(std::size_t directory) {
    const TiffReader tiff(data_);
    for (std::size_t i = 0; i < tiff.entries(directory); ++i) {
      const std::size_t entry = TiffReader::entry(directory, i);
      RawEntry raw;
      std::copy_n(data_.begin() + std::ptrdiff_t(entry), raw.size(), raw.begin());
      entries_.emplace(tiff.at(entry, 2), raw);
    }
    next_ = tiff.at(tiff.end_of_entries(directory), 4);
  }

  /// Writes the values, if they are not in the entry itself.
  void set(const TiffEntry& entry) {
    std::vector<std::byte> values = entry.values;
    change_byte_order(values, entry.type, is_little_endian_);
    std::vector<std::byte> raw;
    append_number(raw, entry.tag, 2);
    append_number(raw, entry.type, 2);
    append_number(raw, entry.count, 4);
    if (values.size() > kInlineBytes) {
      append_number(raw, align(), 4);
      data_.insert(data_.end(), values.begin(), values.end());
    } else {
      values.resize(kInlineBytes);
      raw.insert(raw.end(), values.begin(), values.end());
    }
    std::ranges::copy(raw, entries_[entry.tag].begin());
  }

  /// Returns the offset of the directory.
  std::uint32_t write() {
    const std::uint32_t offset = align();
    append_number(data_, std::uint32_t(entries_.size()), 2);
    for (const auto& [tag, raw] : entries_) data_.insert(data_.end(), raw.begin(), raw.end());
    append_number(data_, next_, 4);
    return offset;
  }

  void write_first_offset(std::uint32_t offset) {
    std::vector<std::byte> number;
    append_number(number, offset, 4);
    std::ranges::copy(number, data_.begin() + 4);
  }

 private:
  using RawEntry = std::array<std::byte, TiffReader::kEntryBytes>;

  void append_number(std::vector<std::byte>& to, std::uint32_t value, std::size_t bytes) const {
    for (std::size_t i = 0; i < bytes; ++i)
      to.push_back(std::byte(value >> 8 * (is_little_endian_ ? i : bytes - 1 - i) & 0xFF));
  }

  /// Returns the end of the data, after padding: values and directories begin at even offsets.
  std::uint32_t align() {
    if (data_.size() % 2 != 0) data_.push_back(std::byte(0));
    return std::uint32_t(data_.size());
  }

  std::vector<std::byte>& data_;
  bool is_little_endian_;
  std::map<std::uint32_t, RawEntry> entries_;
  std::uint32_t next_ = 0;
};

TiffDirectoryWriter::TiffDirectoryWriter(std::vector<std::byte>& data) : data_(data) {
  if (!data_.empty()) return;
  constexpr std::string_view kHeader("II*\0\0\0\0\0", 8);
  std::ranges::transform(kHeader, std::back_inserter(data_), [](char c) { return std::byte(c); });
}

void TiffDirectoryWriter::set(const std::vector<TiffEntry>& entries) {
  Directory directory(data_);
  if (const std::size_t first = TiffReader(data_).first_directory(); first != 0)
    directory.take(first);
  for (const TiffEntry& entry : entries) directory.set(entry);
  directory.write_first_offset(directory.write());
}

std::uint32_t TiffDirectoryWriter::append(const std::vector<TiffEntry>& entries) {
  Directory directory(data_);
  for (const TiffEntry& entry : entries) directory.set(entry);
  return directory.write();
}

}  // namespace eckart::codec
