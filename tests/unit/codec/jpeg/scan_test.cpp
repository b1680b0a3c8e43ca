// The steps that need no whole file: stuffed zeros, Huffman tables, places of blocks.
#include "codec/jpeg/scan.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/unstuff.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec::jpeg {
namespace {

using namespace std::string_view_literals;
using test::Bytes;

std::optional<Bytes> unstuffed(std::string_view scan) {
  const Bytes file = test::to_bytes(scan);
  Bytes data(max_unstuffed_bytes(file.size()), std::byte(0xAA));
  const auto size = unstuff(file, data);
  if (!size) return std::nullopt;
  data.resize(*size);
  return data;
}

TEST(Unstuff, removes_the_zero_after_each_prefix) {
  EXPECT_EQ(unstuffed("ab\xFF\0c\xFF\0\xFF\0\0\xFF\xD9"sv), test::to_bytes("ab\xFF"
                                                                           "c\xFF\xFF\0"sv));
  EXPECT_EQ(unstuffed("\xFF\xD9 after"sv), Bytes());
}

TEST(Unstuff, requires_the_end_of_the_image) {
  for (const std::string_view scan : {""sv, "abc"sv, "abc\xFF"sv, "abc\xFF\0"sv,
                                      "a\xFF\xD0"
                                      "b\xFF\xD9"sv,
                                      "a\xFF\xFF\xD9"sv, "a\xFF\xDA\xFF\xD9"sv})
    EXPECT_EQ(unstuffed(scan), std::nullopt);
}

TEST(Unstuff, fills_the_last_word_with_zeros) {
  const Bytes file = test::to_bytes("abcde\xFF\xD9"sv);
  Bytes data(max_unstuffed_bytes(file.size()), std::byte(0xAA));
  ASSERT_EQ(unstuff(file, data), 5u);
  EXPECT_EQ(data, test::to_bytes("abcde\0\0\0"sv));
  data.pop_back();
  EXPECT_THROW(unstuff(file, data), std::logic_error);
}

/// One code of each length in `counts`, with values 1, 2, ...
HuffmanSpec spec_of(std::initializer_list<int> counts) {
  HuffmanSpec spec{};
  int bits = 0, value = 0;
  for (const int count : counts) {
    spec.counts[bits++] = std::uint8_t(count);
    for (int i = 0; i < count; ++i, ++value) spec.values[value] = std::uint8_t(value + 1);
  }
  return spec;
}

TEST(HuffmanTable, is_invalid_if_a_code_is_all_ones) {
  EXPECT_TRUE(is_valid(spec_of({}), true));
  EXPECT_TRUE(is_valid(spec_of({1, 1}), true));
  EXPECT_FALSE(is_valid(spec_of({2}), true));
  EXPECT_FALSE(is_valid(spec_of({1, 2}), true));
  EXPECT_FALSE(is_valid(spec_of({1, 0, 4}), true));
}

TEST(HuffmanTable, has_small_values_for_dc) {
  const HuffmanSpec spec = spec_of({0, 0, 0, 0, 16});
  EXPECT_FALSE(is_valid(spec, true));
  EXPECT_TRUE(is_valid(spec, false));
}

/// Codes 0, 10, 110, ... of 1 to 16 bits.
TEST(HuffmanTable, finds_codes_of_every_length) {
  TableSpecs specs{};
  specs.ac[0] = spec_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const Tables tables = build_tables(specs);
  const HuffmanTable& table = tables.ac[0];
  for (int bits = 1; bits <= 16; ++bits) {
    const std::uint32_t code = (0xFFFFu << (17 - bits)) & 0xFFFFu;
    const std::uint32_t expected = code_entry(bits, std::uint8_t(bits));
    const std::uint32_t found = table.lookup[code >> 6];
    EXPECT_EQ(found != 0 ? found : find_long_code(table, code), expected) << bits;
  }
  EXPECT_EQ(table.lookup[0x3FF], 0);
  EXPECT_EQ(find_long_code(table, 0xFFFF), 0u);
}

/// Codes: 0 for DC of zero bits; AC: 00 ends the block, 01 is a run of 16 zeros, 10 a run of 14
/// zeros before a value of one bit.
Tables short_tables() {
  TableSpecs specs{};
  specs.dc[0] = spec_of({1});
  specs.dc[0].values[0] = 0;
  specs.ac[0] = spec_of({0, 3});
  specs.ac[0].values[0] = 0;
  specs.ac[0].values[1] = 0xF0;
  specs.ac[0].values[2] = 0xE1;
  return build_tables(specs);
}

/// Decodes the scan of one gray block.
Irregularity decode_block(std::initializer_list<std::uint32_t> words, std::int32_t bytes) {
  std::vector<std::uint32_t> data;
  for (const std::uint32_t word : words) data.push_back(__builtin_bswap32(word));
  std::vector<std::int16_t> coefficients(kBlockSize);
  return decode_scan({.rows = 8, .cols = 8}, short_tables(), {data.data(), bytes}, 1,
                     coefficients.data());
}

TEST(Scan, ends_at_the_last_coefficient_or_at_the_code_for_it) {
  EXPECT_EQ(decode_block({0b0'00'11111u << 24}, 1), Irregularity::none);
  EXPECT_EQ(decode_block({0b0'01'01'01'10'1'111111u << 16}, 2), Irregularity::none);
}

TEST(Scan, reports_a_run_beyond_its_block) {
  EXPECT_EQ(decode_block({0b0'01'01'01'01'0000000u << 16}, 2), Irregularity::run);
  EXPECT_EQ(decode_block({0b0'10'1'10'1'10'1'10'1'10'1u << 16}, 2), Irregularity::run);
}

TEST(Scan, reports_codes_that_do_not_exist) {
  EXPECT_EQ(decode_block({0b0'11'00000u << 24}, 1), Irregularity::code);
  EXPECT_EQ(decode_block({0b1'00'00000u << 24}, 1), Irregularity::code);
}

TEST(Scan, reports_data_that_are_too_short_or_too_long) {
  EXPECT_EQ(decode_block({0b0'01'01'01'10'1'111111u << 16}, 1), Irregularity::data_ended);
  EXPECT_EQ(decode_block({}, 0), Irregularity::data_ended);
  EXPECT_EQ(decode_block({0b0'00'11111'11111111u << 16}, 2), Irregularity::data_left);
}

/// Each block has 3 bits, all zeros. So a thread that begins at a wrong bit never finds out.
TEST(Scan, does_not_depend_on_guesses) {
  constexpr std::int32_t kBlocks = 20'001;
  const auto bytes = std::int32_t((3 * kBlocks + 7) / 8);
  const std::vector<std::uint32_t> zeros(std::size_t(bytes + 3) / 4);
  std::vector<std::int16_t> coefficients(std::size_t(kBlockSize) * kBlocks);
  const Tables tables = short_tables();
  const auto decode_blocks = [&](std::int32_t blocks, int segments) {
    const Layout layout{.rows = 8, .cols = 8 * blocks};
    return decode_scan(layout, tables, {zeros.data(), bytes}, segments, coefficients.data());
  };
  int wrong_guesses = 0;
  for (int i = 1; i < 13; ++i) {
    ScanSegment segment = scan_segment({zeros.data(), bytes}, i, 13);
    guess_first_code({.rows = 8, .cols = 8 * kBlocks}, tables, {zeros.data(), bytes}, segment);
    wrong_guesses += (segment.first.bit - segment.first.k) % 3 != 0 ? 1 : 0;
  }
  EXPECT_GT(wrong_guesses, 0);
  for (int segments = 1; segments <= kMaxScanSegments; ++segments) {
    EXPECT_EQ(decode_blocks(kBlocks, segments), Irregularity::none) << segments;
    EXPECT_EQ(decode_blocks(kBlocks - 5, segments), Irregularity::data_left) << segments;
    EXPECT_EQ(decode_blocks(1, segments), Irregularity::data_left) << segments;
  }
}

TEST(Scan, has_segments_for_threads_with_enough_data) {
  constexpr Layout kLayout{.rows = 512, .cols = 512};
  EXPECT_EQ(scan_segments(kLayout, 0, 32), 1);
  EXPECT_EQ(scan_segments(kLayout, 1023, 32), 1);
  EXPECT_EQ(scan_segments(kLayout, 1024, 32), 2);
  EXPECT_EQ(scan_segments(kLayout, 200'000, 32), 32);
  EXPECT_EQ(scan_segments(kLayout, 200'000, 8), 8);
  EXPECT_EQ(scan_segments({.rows = 8, .cols = 8}, 200'000, 8), 1) << "most of it is not read";
}

TEST(Idct, reports_values_beyond_what_libjpeg_computes_the_same_everywhere) {
  const auto is_column_valid = [](std::int16_t dc, std::int16_t ac, std::uint16_t quantization) {
    const std::int16_t coefficients[kBlockSide] = {dc, ac};
    const std::uint16_t steps[kBlockSide] = {quantization, quantization};
    std::int32_t column[kBlockSide];
    return transform_column(coefficients, steps, column);
  };
  EXPECT_TRUE(is_column_valid(1365, 0, 3));
  EXPECT_FALSE(is_column_valid(2730, 0, 3));  // 8190, and 4 times as much in the column
  EXPECT_FALSE(is_column_valid(4095, 1, 1));
  EXPECT_FALSE(is_column_valid(-32767, 0, 65535));
  const auto is_row_valid = [](std::int32_t value) {
    std::int32_t row[kBlockSide] = {32 * value};
    return transform_row(row);
  };
  EXPECT_TRUE(is_row_valid(511));
  EXPECT_TRUE(is_row_valid(-511));
  EXPECT_FALSE(is_row_valid(512));
}

TEST(Layout, places_each_sample_once) {
  for (const auto& [channels, across, down] :
       std::vector<std::array<int, 3>>{{1, 1, 1}, {3, 1, 1}, {3, 2, 1}, {3, 1, 2}, {3, 2, 2}}) {
    const Layout layout{
        .rows = 37, .cols = 50, .channels = channels, .across = across, .down = down};
    std::vector<int> uses(std::size_t(layout.samples()));
    for (std::int32_t block = 0; block < layout.blocks(); ++block) {
      const BlockPlace place = layout.place(block);
      for (int row = 0; row < kBlockSide; ++row) {
        for (int col = 0; col < kBlockSide; ++col)
          ++uses.at(std::size_t(place.first_sample) + std::size_t(row) * std::size_t(place.stride) +
                    std::size_t(col));
      }
      EXPECT_GE(place.first_sample, layout.first_sample(place.channel));
      EXPECT_EQ(place.stride, layout.stride(place.channel));
    }
    EXPECT_EQ(std::ranges::count(uses, 1), std::ptrdiff_t(uses.size()));
  }
}

}  // namespace
}  // namespace eckart::codec::jpeg
