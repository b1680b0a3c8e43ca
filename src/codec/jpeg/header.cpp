#include "codec/jpeg/header.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "codec/jpeg/marker.hpp"

namespace eckart::codec::jpeg {
namespace {

constexpr int kTableSlots = 4;

/// The rest of a segment.
class Segment {
 public:
  explicit Segment(std::span<const std::byte> data) : data_(data) {}

  std::size_t size() const { return data_.size(); }
  /// Requires that the segment has the bytes.
  int byte() { return int(take(1)[0]); }
  int word() {
    const std::span<const std::byte> bytes = take(2);
    return int(bytes[0]) << 8 | int(bytes[1]);
  }
  std::span<const std::byte> take(std::size_t count) {
    const std::span<const std::byte> bytes = data_.first(count);
    data_ = data_.subspan(count);
    return bytes;
  }
  bool begins_with(std::string_view text) const {
    return data_.size() >= text.size() &&
           std::ranges::equal(text, data_.first(text.size()),
                              [](char a, std::byte b) { return std::byte(a) == b; });
  }

 private:
  std::span<const std::byte> data_;
};

struct Component {
  int id, across, down, quantization;
};

/// Parses one file. Functions return what is irregular.
class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> file, JpegHeader& header)
      : file_(file), header_(header) {}

  Irregularity parse() {
    if (file_.size() < 2 || int(file_[0]) != 0xFF || int(file_[1]) != Marker::kSoi)
      return Irregularity::segments;
    for (std::size_t offset = 2;;) {
      if (file_.size() - offset < 4 || int(file_[offset]) != 0xFF) return Irregularity::segments;
      const int marker = int(file_[offset + 1]);
      const std::size_t size = std::size_t(file_[offset + 2]) << 8 | std::size_t(file_[offset + 3]);
      if (size < 2 || file_.size() - offset - 2 < size) return Irregularity::segments;
      const Segment segment(file_.subspan(offset + 4, size - 2));
      offset += 2 + size;
      header_.scan_offset = offset;
      if (marker == Marker::kSos) return parse_scan(segment);
      if (const Irregularity found = parse(marker, segment); found != Irregularity::none)
        return found;
    }
  }

 private:
  template <class Table>
  struct Slot {
    Table table{};
    bool is_defined = false;
  };
  using Quantization = std::array<std::uint16_t, kBlockSize>;

  Irregularity parse(int marker, const Segment& segment) {
    if (marker == Marker::kDht) return parse_huffman(segment);
    if (marker == Marker::kDqt) return parse_quantization(segment);
    if (marker == Marker::kSof0 || marker == Marker::kSof1) return parse_frame(segment);
    if (marker > Marker::kSof1 && marker <= Marker::kSof15) return Irregularity::process;
    if (marker == Marker::kDri) return parse_restart_interval(segment);
    if (marker == Marker::kApp0) note_jfif(segment);
    if (marker == Marker::kApp14) note_adobe(segment);
    const bool is_metadata =
        (marker >= Marker::kApp0 && marker <= Marker::kApp15) || marker == Marker::kCom;
    return is_metadata ? Irregularity::none : Irregularity::segments;
  }

  Irregularity parse_huffman(Segment segment) {
    constexpr std::size_t kCounts = 16;
    while (segment.size() > 0) {
      if (segment.size() < 1 + kCounts) return Irregularity::tables;
      const int id = segment.byte();
      if ((id & 0xEF) >= kTableSlots) return Irregularity::tables;
      const bool is_dc = (id & 0x10) == 0;
      Slot<HuffmanSpec>& slot = (is_dc ? dc_ : ac_)[id & 0xF];
      slot.table = {};
      std::size_t values = 0;
      for (std::uint8_t& count : slot.table.counts) {
        count = std::uint8_t(segment.byte());
        values += count;
      }
      if (values > std::size(slot.table.values) || values > segment.size())
        return Irregularity::tables;
      std::ranges::transform(segment.take(values), slot.table.values,
                             [](std::byte value) { return std::uint8_t(value); });
      slot.is_defined = true;
    }
    return Irregularity::none;
  }

  Irregularity parse_quantization(Segment segment) {
    while (segment.size() > 0) {
      const int id = segment.byte();
      const std::size_t bytes_per_value = 1 + std::size_t(id >> 4);
      if (bytes_per_value > 2 || (id & 0xF) >= kTableSlots) return Irregularity::tables;
      if (segment.size() < kBlockSize * bytes_per_value) return Irregularity::tables;
      Slot<Quantization>& slot = quantization_[id & 0xF];
      for (std::uint16_t& value : slot.table)
        value = std::uint16_t(bytes_per_value == 2 ? segment.word() : segment.byte());
      slot.is_defined = true;
    }
    return Irregularity::none;
  }

  Irregularity parse_restart_interval(Segment segment) {
    if (segment.size() != 2) return Irregularity::segments;
    return segment.word() == 0 ? Irregularity::none : Irregularity::restart_interval;
  }

  Irregularity parse_frame(Segment segment) {
    if (has_frame_) return Irregularity::segments;
    has_frame_ = true;
    if (segment.size() < 6 || segment.byte() != 8) return Irregularity::frame;
    Layout& layout = header_.layout;
    layout = {};
    layout.rows = segment.word();
    layout.cols = segment.word();
    layout.channels = segment.byte();
    if (std::min(layout.rows, layout.cols) == 0 || std::max(layout.rows, layout.cols) > kMaxSide)
      return Irregularity::frame;
    if (layout.channels != 1 && layout.channels != 3) return Irregularity::frame;
    if (segment.size() != 3 * std::size_t(layout.channels)) return Irregularity::frame;
    for (int c = 0; c < layout.channels; ++c) {
      const int id = segment.byte(), sampling = segment.byte();
      components_[std::size_t(c)] = {id, sampling >> 4, sampling & 0xF, segment.byte()};
    }
    return set_sampling();
  }

  Irregularity set_sampling() {
    const auto& [y, cb, cr] = components_;
    Layout& layout = header_.layout;
    const auto is_factor = [](int factor, int max) { return factor >= 1 && factor <= max; };
    if (layout.channels == 1) {  // has no effect on one component, but has to be valid
      if (!is_factor(y.across, 4) || !is_factor(y.down, 4)) return Irregularity::frame;
    } else {
      if (!is_factor(y.across, 2) || !is_factor(y.down, 2)) return Irregularity::frame;
      if (cb.across * cb.down * cr.across * cr.down != 1) return Irregularity::frame;
      if (y.id == cb.id || y.id == cr.id || cb.id == cr.id) return Irregularity::frame;
      layout.across = y.across;
      layout.down = y.down;
    }
    return layout.blocks() <= kMaxBlocks ? Irregularity::none : Irregularity::frame;
  }

  void note_jfif(const Segment& segment) {
    has_jfif_ |= segment.size() >= 14 && segment.begins_with(std::string_view("JFIF\0", 5));
  }
  void note_adobe(Segment segment) {
    if (segment.size() < 12 || !segment.begins_with("Adobe")) return;
    adobe_transform_ = int(segment.take(12)[11]);
  }

  /// Whether libjpeg takes the components for YCbCr, without a warning.
  bool is_ycbcr() const {
    constexpr int kNoAdobe = -1, kAdobeYcc = 1;
    if (has_jfif_) return true;
    if (adobe_transform_ != kNoAdobe) return adobe_transform_ == kAdobeYcc;
    return components_[0].id != 'R' || components_[1].id != 'G' || components_[2].id != 'B';
  }

  Irregularity parse_scan(Segment segment) {
    if (!has_frame_) return Irregularity::segments;
    const int channels = header_.layout.channels;
    if (channels == 3 && !is_ycbcr()) return Irregularity::color_space;
    if (segment.size() != 4 + 2 * std::size_t(channels) || segment.byte() != channels)
      return Irregularity::scan;
    std::array<int, 3> table_ids{};
    for (int c = 0; c < channels; ++c) {
      if (segment.byte() != components_[std::size_t(c)].id) return Irregularity::scan;
      table_ids[std::size_t(c)] = segment.byte();
    }
    const int first = segment.byte(), last = segment.byte(), bits = segment.byte();
    if (first != 0 || last != kBlockSize - 1 || bits != 0) return Irregularity::scan;
    if (channels == 3 && table_ids[1] != table_ids[2]) return Irregularity::scan;
    return select_tables(table_ids);
  }

  Irregularity select_tables(const std::array<int, 3>& ids) {
    TableSpecs& tables = header_.tables;
    tables = {};
    for (std::size_t c = 0; c < std::size_t(header_.layout.channels); ++c) {
      const int dc = ids[c] >> 4, ac = ids[c] & 0xF, quantization = components_[c].quantization;
      if (std::max({dc, ac, quantization}) >= kTableSlots) return Irregularity::tables;
      if (!dc_[dc].is_defined || !ac_[ac].is_defined || !quantization_[quantization].is_defined)
        return Irregularity::tables;
      if (!is_valid(dc_[dc].table, true) || !is_valid(ac_[ac].table, false))
        return Irregularity::tables;
      const std::size_t kind = c == 0 ? 0 : 1;
      tables.dc[kind] = dc_[dc].table;
      tables.ac[kind] = ac_[ac].table;
      std::ranges::copy(quantization_[quantization].table, tables.quantization[c]);
    }
    return Irregularity::none;
  }

  const std::span<const std::byte> file_;
  JpegHeader& header_;
  Slot<HuffmanSpec> dc_[kTableSlots], ac_[kTableSlots];
  Slot<Quantization> quantization_[kTableSlots];
  std::array<Component, 3> components_{};
  bool has_frame_ = false, has_jfif_ = false;
  int adobe_transform_ = -1;  // -1: no Adobe segment
};

}  // namespace

Irregularity parse_header(std::span<const std::byte> file, JpegHeader& header) {
  return HeaderParser(file, header).parse();
}

}  // namespace eckart::codec::jpeg
