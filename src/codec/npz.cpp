#include "codec/npz.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"

namespace eckart::codec {
namespace {

// ZIP: APPNOTE.TXT 4.3. NPY 1.0: numpy.lib.format.
constexpr std::uint32_t kLocalHeader = 0x04034B50, kCentralHeader = 0x02014B50,
                        kEndOfDirectory = 0x06054B50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr std::string_view kNpyMagic{"\x93NUMPY\x01\x00", 8}, kExtension = ".npy";
constexpr std::size_t kMaxZipBytes = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint16_t kZipVersion = 20, kDate = 0x21;  // 1980-01-01

[[noreturn]] void fail(const std::string& what) {
  throw ItemError(FailureReason::corrupt, "NPZ: " + what);
}

[[noreturn]] void refuse(const std::string& what) {
  throw ItemError(FailureReason::unsupported, "NPZ: " + what);
}

std::size_t item_bytes(std::string_view dtype) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 5> kTypes{
      {{"<f2", 2}, {"<f4", 4}, {"<f8", 8}, {"<i4", 4}, {"<i8", 8}}};
  for (const auto& [name, bytes] : kTypes)
    if (name == dtype) return bytes;
  constexpr std::string_view kText = "<U";  // in UTF-32
  constexpr std::size_t kMaxText = 64;
  std::size_t length = 0;
  const char* const end = dtype.data() + dtype.size();
  if (dtype.starts_with(kText) &&
      std::from_chars(dtype.data() + kText.size(), end, length).ptr == end && length > 0 &&
      length <= kMaxText)
    return sizeof(char32_t) * length;
  refuse("an array has another type than float16, float32, float64, int32, int64 and text");
}

class ByteWriter {
 public:
  void number(std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_.push_back(std::byte(value >> (8 * i)));
  }
  void text(std::string_view text) { append(std::as_bytes(std::span(text))); }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

std::string npy_header(const NpyArray& array) {
  std::string shape;
  for (const std::int64_t side : array.shape) shape += std::to_string(side) + ", ";
  if (array.shape.size() > 1) shape.resize(shape.size() - 2);
  if (array.shape.size() == 1) shape.pop_back();
  std::string dictionary =
      "{'descr': '" + array.dtype + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kAlignment = 64;
  const std::size_t unpadded = kNpyMagic.size() + 2 + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string header(kNpyMagic);
  header += char(dictionary.size() & 0xFF);
  header += char(dictionary.size() >> 8);
  return header + dictionary;
}

struct ZipEntry {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t bytes = 0, offset = 0;
};

/// The fields that the local and the central header share.
void write_common(ByteWriter& out, const ZipEntry& entry) {
  out.number(kZipVersion, 2);
  out.number(0, 2);  // flags
  out.number(0, 2);  // stored
  out.number(0, 2);
  out.number(kDate, 2);
  out.number(entry.crc, 4);
  out.number(entry.bytes, 4);
  out.number(entry.bytes, 4);
  out.number(entry.name.size(), 2);
  out.number(0, 2);  // extra field
}

std::uint32_t crc_of(std::uint32_t crc, std::span<const std::byte> bytes) {
  return std::uint32_t(
      crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace

std::vector<std::byte> write_npz(std::span<const NpyArray> arrays) {
  ByteWriter out;
  std::vector<ZipEntry> entries;
  for (const NpyArray& array : arrays) {
    const std::string header = npy_header(array);
    const auto header_bytes = std::as_bytes(std::span(header));
    ZipEntry entry{array.name + std::string(kExtension),
                   crc_of(crc_of(0, header_bytes), array.data), header.size() + array.data.size(),
                   out.size()};
    if (out.size() + entry.bytes > kMaxZipBytes - (1 << 16))
      throw ItemError(FailureReason::not_encodable, "factors above 4 GiB");
    out.number(kLocalHeader, 4);
    write_common(out, entry);
    out.text(entry.name);
    out.append(header_bytes);
    out.append(array.data);
    entries.push_back(std::move(entry));
  }
  const std::size_t directory = out.size();
  for (const ZipEntry& entry : entries) {
    out.number(kCentralHeader, 4);
    out.number(kZipVersion, 2);
    write_common(out, entry);
    out.number(0, 6);  // comment, disk, internal attributes
    out.number(0, 4);  // external attributes
    out.number(entry.offset, 4);
    out.text(entry.name);
  }
  const std::size_t directory_bytes = out.size() - directory;
  out.number(kEndOfDirectory, 4);
  out.number(0, 4);  // disks
  out.number(entries.size(), 2);
  out.number(entries.size(), 2);
  out.number(directory_bytes, 4);
  out.number(directory, 4);
  out.number(0, 2);  // comment
  return out.take();
}

namespace {

/// Reads numbers at checked positions.
class ByteReader {
 public:
  explicit ByteReader(FileBytes& file) : file_(file) {}

  /// Valid until the next call.
  std::span<const std::byte> range(std::size_t offset, std::size_t size) {
    if (offset > file_.size() || size > file_.size() - offset) fail("the file is cut short");
    return file_.at(offset, size).first(size);
  }
  std::uint32_t number(std::size_t offset, int bytes) {
    const auto from = range(offset, std::size_t(bytes));
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= std::uint32_t(from[std::size_t(i)]) << (8 * i);
    return value;
  }
  std::string text(std::size_t offset, std::size_t size) {
    const auto from = range(offset, size);
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }

 private:
  FileBytes& file_;
};

/// Consumes the dictionary of a NPY header from left to right.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  bool accept(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("an array has no valid header");
  }
  std::string_view quoted() {
    expect("'");
    const std::size_t end = rest_.find('\'');
    if (end == rest_.npos) fail("an array has no valid header");
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::int64_t integer() {
    skip_spaces();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < 0) fail("an array has no valid shape");
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    return value;
  }

 private:
  void skip_spaces() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  std::string_view rest_;
};

std::vector<std::int64_t> parse_shape(HeaderParser& parser) {
  constexpr std::size_t kMaxDimensions = 8;
  std::vector<std::int64_t> shape;
  parser.expect("(");
  while (!parser.accept(")")) {
    if (shape.size() == kMaxDimensions) fail("an array has too many dimensions");
    shape.push_back(parser.integer());
    if (!parser.accept(",")) {
      parser.expect(")");
      break;
    }
  }
  return shape;
}

/// The bytes of an array; nullopt if they exceed `max`.
std::optional<std::size_t> array_bytes(const NpyEntry& array, std::size_t max) {
  std::size_t bytes = item_bytes(array.dtype);
  for (const std::int64_t side : array.shape)
    if (side == 0) return 0;
  for (const std::int64_t side : array.shape) {
    if (std::size_t(side) > max / bytes) return std::nullopt;
    bytes *= std::size_t(side);
  }
  return bytes;
}

/// Reads the header of the .npy file at `entry.offset`.
void parse_npy_header(ByteReader& reader, NpyEntry& entry) {
  constexpr std::size_t kMaxHeader = 1024;
  const std::size_t at = entry.offset, begin = kNpyMagic.size() + 2;
  if (entry.bytes < begin || reader.text(at, kNpyMagic.size()) != kNpyMagic)
    fail("an array has no NPY 1.0 header");
  const std::size_t length = reader.number(at + kNpyMagic.size(), 2);
  if (length > kMaxHeader || length > entry.bytes - begin) fail("an array has no valid header");
  entry.header_bytes = begin + length;
  const std::string header = reader.text(at + begin, length);
  HeaderParser parser(header);
  parser.expect("{");
  while (!parser.accept("}")) {
    const std::string_view key = parser.quoted();
    parser.expect(":");
    if (key == "descr") {
      entry.dtype = parser.quoted();
    } else if (key == "fortran_order") {
      if (parser.accept("True")) refuse("an array is in Fortran order");
      parser.expect("False");
    } else if (key == "shape") {
      entry.shape = parse_shape(parser);
    } else {
      fail("an array has an unknown key in its header");
    }
    parser.accept(",");
  }
  const std::size_t data_bytes = entry.bytes - entry.header_bytes;
  if (array_bytes(entry, data_bytes) != data_bytes) fail("an array has another size than it says");
}

}  // namespace

bool is_npz(std::span<const std::byte> start) {
  FileBytes file(start);
  ByteReader reader(file);
  if (start.size() < kLocalBytes || reader.number(0, 4) != kLocalHeader) return false;
  const std::size_t name_bytes = reader.number(26, 2);
  return name_bytes <= start.size() - kLocalBytes &&
         reader.text(kLocalBytes, name_bytes).ends_with(kExtension);
}

std::vector<NpyEntry> list_npz(FileBytes& file) {
  constexpr std::size_t kMaxEntries = 64;
  ByteReader reader(file);
  if (file.size() < kEndBytes) fail("the file is cut short");
  const std::size_t end = file.size() - kEndBytes;  // no comment
  if (reader.number(end, 4) != kEndOfDirectory) fail("the directory is missing");
  const std::size_t count = reader.number(end + 10, 2);
  if (count > kMaxEntries) refuse("the archive has " + std::to_string(count) + " arrays");
  std::size_t at = reader.number(end + 16, 4);
  std::vector<NpyEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    if (reader.number(at, 4) != kCentralHeader) fail("the directory is damaged");
    if (reader.number(at + 10, 2) != 0) refuse("the archive is compressed");
    NpyEntry entry;
    entry.crc = reader.number(at + 16, 4);
    entry.bytes = reader.number(at + 24, 4);
    const std::size_t name_bytes = reader.number(at + 28, 2);
    entry.name = reader.text(at + kCentralBytes, name_bytes);
    if (!entry.name.ends_with(kExtension)) fail("an entry is no array");
    entry.name.resize(entry.name.size() - kExtension.size());
    const std::size_t local = reader.number(at + 42, 4);
    if (reader.number(local, 4) != kLocalHeader) fail("the directory is damaged");
    entry.offset =
        local + kLocalBytes + reader.number(local + 26, 2) + reader.number(local + 28, 2);
    if (entry.offset > file.size() || entry.bytes > file.size() - entry.offset)
      fail("the file is cut short");
    parse_npy_header(reader, entry);
    at += kCentralBytes + name_bytes + reader.number(at + 30, 2) + reader.number(at + 32, 2);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::span<const std::byte> read_npy(FileBytes& file, const NpyEntry& entry) {
  const auto bytes = ByteReader(file).range(entry.offset, entry.bytes);
  if (crc_of(0, bytes) != entry.crc) fail("the array " + entry.name + " has a wrong checksum");
  return bytes.subspan(entry.header_bytes);
}

}  // namespace eckart::codec
