// What is taken of JPEGs of every kind, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_view_literals;
using test::Bytes;
using test::failure_of;
using test::find_marker;
using test::gradient_image;
using test::JpegOptions;
using test::make_jpeg;
using test::noise_image;
using test::with_inserted;
using testing::HasSubstr;

constexpr int kSof0 = 0xC0, kSof2 = 0xC2, kDht = 0xC4, kRst0 = 0xD0, kRst3 = 0xD3, kEoi = 0xD9,
              kSos = 0xDA, kDqt = 0xDB;

const Codec& codec() { return codec_for(ImageFormat::jpeg); }
Image decode(const Bytes& file, const ImageLimits& limits = {}) {
  return codec().decode(file, limits).pixels;
}
FailureReason reason_of_failure(const Bytes& file) {
  return failure_of([&] { decode(file); }).reason;
}

/// A progressive file of one color sampling has the coefficients of a baseline one, and so has one
/// with restart markers or a scan for each channel.
TEST(JpegDecoder, decodes_the_same_pixels_from_every_scan_layout) {
  for (const Image& image :
       {noise_image({75, 101, 3, Depth::u8}), gradient_image({1, 1, 3, Depth::u8}),
        gradient_image({70, 333, 1, Depth::u8})}) {
    for (const int chroma_cols : {1, 2, 4}) {
      for (const int chroma_rows : {1, 2}) {
        JpegOptions kind{.chroma_cols = chroma_cols, .chroma_rows = chroma_rows};
        const Image baseline = decode(make_jpeg(image, kind));
        kind.interleaved = false;
        EXPECT_TRUE(test::same(decode(make_jpeg(image, kind)), baseline));
        kind.restart_interval = 3;
        EXPECT_TRUE(test::same(decode(make_jpeg(image, kind)), baseline));
        kind.progressive = true;
        EXPECT_TRUE(test::same(decode(make_jpeg(image, kind)), baseline));
        kind.has_refinement_scans = false;
        EXPECT_TRUE(test::same(decode(make_jpeg(image, kind)), baseline));
      }
    }
  }
}

TEST(JpegDecoder, decodes_the_same_pixels_from_arithmetic_coding) {
  for (const Image& image :
       {noise_image({75, 101, 3, Depth::u8}), gradient_image({70, 333, 1, Depth::u8})}) {
    for (const JpegOptions kind :
         {JpegOptions{}, JpegOptions{.progressive = true}, JpegOptions{.interleaved = false},
          JpegOptions{.chroma_cols = 2, .restart_interval = 3}}) {
      JpegOptions arithmetic = kind;
      arithmetic.arithmetic = true;
      const Bytes file = make_jpeg(image, arithmetic);
      EXPECT_LT(find_marker(file, kind.progressive ? 0xCA : 0xC9), std::ptrdiff_t(file.size()));
      EXPECT_TRUE(test::same(decode(file), decode(make_jpeg(image, kind))));
      EXPECT_EQ(codec().read_header(file).max_decode_bytes,
                codec().read_header(make_jpeg(image, kind)).max_decode_bytes);
    }
  }
}

TEST(JpegDecoder, refuses_sampling_that_is_no_whole_part_of_the_largest) {
  constexpr std::ptrdiff_t kFactors = 11, kComponent = 3;  // from the marker, and from each other
  for (const bool is_across : {true, false}) {
    Bytes file = make_jpeg(gradient_image({16, 48, 3, Depth::u8}), {});
    const auto at = file.begin() + find_marker(file, kSof0) + kFactors;
    at[0] = std::byte(is_across ? 0x31 : 0x13);
    at[kComponent] = std::byte(is_across ? 0x21 : 0x12);
    const test::CaughtError failure = failure_of([&] { codec().read_header(file); });
    EXPECT_EQ(failure.reason, FailureReason::unsupported);
    EXPECT_THAT(failure.detail, HasSubstr("sampling factors"));
    at[kComponent] = at[0];
    EXPECT_NO_THROW(codec().read_header(file)) << "a third, and all";
  }
}

/// libjpeg keeps 64 coefficients of 2 bytes for each block until it has read all scans.
TEST(JpegDecoder, counts_all_coefficients_of_a_progressive_file_as_memory) {
  const auto bytes_of = [](int channels, int chroma_cols, int chroma_rows) {
    const Image image = gradient_image({20, 30, channels, Depth::u8});
    const JpegOptions kind{
        .progressive = true, .chroma_cols = chroma_cols, .chroma_rows = chroma_rows};
    return codec().read_header(make_jpeg(image, kind)).max_decode_bytes;
  };
  EXPECT_EQ(bytes_of(1, 1, 1), 20U * 30 + 3 * 4 * 128);
  EXPECT_EQ(bytes_of(3, 1, 1), 3 * (20U * 30 + 3 * 4 * 128));
  EXPECT_EQ(bytes_of(3, 2, 1), 3 * 20U * 30 + 3 * 2 * 4 * 128) << "3 x 2 MCUs of 4 blocks";
  EXPECT_EQ(bytes_of(3, 2, 2), 3 * 20U * 30 + 2 * 2 * 6 * 128) << "2 x 2 MCUs of 6 blocks";
}

TEST(JpegDecoder, rejects_a_truncated_arithmetic_coded_file) {
  const Bytes whole = make_jpeg(noise_image({24, 40, 3, Depth::u8}), {.arithmetic = true});
  for (std::size_t size = 3; size < whole.size(); ++size) {
    const Bytes file(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    ASSERT_EQ(reason_of_failure(file), FailureReason::corrupt) << size << " bytes";
  }
}

TEST(JpegDecoder, decodes_subsampled_color_closely) {
  const Image image = gradient_image({70, 333, 3, Depth::u8});
  for (const JpegOptions kind :
       {JpegOptions{.chroma_cols = 2, .chroma_rows = 2, .quality = 95},
        JpegOptions{.progressive = true, .chroma_cols = 4, .quality = 95}}) {
    EXPECT_LE(test::largest_difference(decode(make_jpeg(image, kind)), image), 8);
  }
}

TEST(JpegDecoder, ignores_stray_bytes_before_the_first_scan) {
  for (const bool progressive : {false, true}) {
    const Bytes file = make_jpeg(noise_image({24, 40, 3, Depth::u8}), {.progressive = progressive});
    const Image image = decode(file);
    for (const int marker : {kDqt, progressive ? kSof2 : kSof0, kDht, kSos}) {
      for (const std::string_view stray : {"\0"sv, "\x12\x34\xFF\0\x56"sv, "\xFF\xFF"sv}) {
        EXPECT_TRUE(
            test::same(decode(with_inserted(file, find_marker(file, marker), stray)), image))
            << std::hex << marker;
      }
    }
  }
}

/// Zeros between what a restart interval or a scan needs and the next marker: some cameras pad.
TEST(JpegDecoder, accepts_zero_padding_after_a_scan_or_restart_interval) {
  const Image image = noise_image({24, 40, 3, Depth::u8});
  for (const bool arithmetic : {false, true}) {
    const Bytes baseline = make_jpeg(image, {.restart_interval = 2, .arithmetic = arithmetic});
    const Bytes progressive = make_jpeg(image, {.progressive = true, .arithmetic = arithmetic});
    const Bytes apart = make_jpeg(image, {.interleaved = false, .arithmetic = arithmetic});
    for (std::size_t size = 1; size <= 40; ++size) {
      const std::string zeros(size, '\0');
      const Bytes all =
          with_inserted(with_inserted(with_inserted(baseline, find_marker(baseline, kEoi), zeros),
                                      find_marker(baseline, kRst3), zeros),
                        find_marker(baseline, kRst0), zeros);
      EXPECT_TRUE(test::same(decode(all), decode(baseline))) << size;
      for (const Bytes& file : {progressive, apart}) {
        const Bytes padded = with_inserted(with_inserted(file, find_marker(file, kEoi), zeros),
                                           find_marker(file, kSos, 1), zeros);
        EXPECT_TRUE(test::same(decode(padded), decode(file))) << size;
      }
    }
    Bytes mixed = baseline;  // what was read ahead in one interval does not count in another
    for (const std::size_t size : {20, 3, 2, 5})
      mixed = with_inserted(mixed, find_marker(mixed, size == 20 ? kRst3 : kRst0 + int(size) % 3),
                            std::string(size, '\0'));
    EXPECT_TRUE(test::same(decode(mixed), decode(baseline)));
  }
}

TEST(JpegDecoder, rejects_zeros_in_place_of_codes) {
  const Bytes whole = make_jpeg(noise_image({24, 40, 3, Depth::u8}), {.restart_interval = 2});
  for (const std::size_t size : {1, 5, 20, 100}) {
    for (const int marker : {kRst0, kRst3, kEoi}) {
      Bytes file = whole;
      const std::ptrdiff_t end = find_marker(file, marker);
      std::fill(file.begin() + end - std::ptrdiff_t(size) - 30, file.begin() + end, std::byte(0));
      EXPECT_EQ(reason_of_failure(file), FailureReason::corrupt) << size;
    }
  }
}

TEST(JpegDecoder, rejects_stray_bytes_in_or_after_a_scan) {
  const std::string stray(20, '\x12');  // those few that libjpeg has read ahead go unnoticed
  const Image image = noise_image({24, 40, 3, Depth::u8});
  const Bytes baseline = make_jpeg(image, {.restart_interval = 2});
  const Bytes progressive = make_jpeg(image, {.progressive = true});
  for (const Bytes& file : {with_inserted(baseline, find_marker(baseline, kRst3), stray),
                            with_inserted(baseline, find_marker(baseline, kEoi), stray),
                            with_inserted(progressive, find_marker(progressive, kSos, 1), stray),
                            with_inserted(progressive, find_marker(progressive, kEoi), stray)}) {
    const test::CaughtError failure = failure_of([&] { decode(file); });
    EXPECT_EQ(failure.reason, FailureReason::corrupt);
    EXPECT_THAT(failure.detail, HasSubstr("extraneous bytes"));
  }
}

TEST(JpegDecoder, ignores_comments_of_any_length) {
  const Bytes file = make_jpeg(noise_image({24, 40, 3, Depth::u8}), {});
  const Image expected = decode(file);
  for (const int length : {0, 1, 2, 3, 60000}) {
    std::string comment = "\xff\xfe";
    comment += {char((length + 2) >> 8), char((length + 2) & 255)};
    comment.append(std::size_t(length), 'x');
    EXPECT_TRUE(test::same(decode(with_inserted(file, 2, comment)), expected)) << length;
  }
}

TEST(JpegDecoder, accepts_other_jfif_versions) {
  Bytes file = make_jpeg(noise_image({24, 40, 1, Depth::u8}), {});
  const Image image = decode(file);
  ASSERT_EQ(file[11], std::byte(1));  // after the markers, a size of two bytes, and JFIF\0
  file[11] = std::byte(2);
  EXPECT_TRUE(test::same(decode(file), image));
}

TEST(JpegDecoder, does_not_reuse_tables_of_an_earlier_image) {
  const Bytes whole = make_jpeg(noise_image({24, 40, 1, Depth::u8}), {});
  Bytes file = whole;
  const std::ptrdiff_t table = find_marker(file, kDqt);
  file.erase(file.begin() + table, file.begin() + table + 2 + int(file[table + 3]));
  decode(whole);
  EXPECT_EQ(reason_of_failure(file), FailureReason::corrupt);
}

TEST(JpegDecoder, rejects_a_file_truncated_anywhere) {
  for (const bool progressive : {false, true}) {
    const Bytes whole = make_jpeg(noise_image({24, 40, 3, Depth::u8}),
                                  {.progressive = progressive, .chroma_cols = 2, .chroma_rows = 2});
    const std::ptrdiff_t end = find_marker(whole, kEoi);
    const std::ptrdiff_t scan = find_marker(whole, kSos);
    for (std::ptrdiff_t size = 3; size < end; ++size) {
      Bytes file(whole.begin(), whole.begin() + size);
      ASSERT_EQ(reason_of_failure(file), FailureReason::corrupt) << size << " bytes";
      if (size <= scan) continue;
      file.insert(file.end(), whole.begin() + end, whole.end());
      // Of a progressive image what is missing may be whole scans, and an image without its finest
      // details is an image. At the end of a scan its last bits may be padding.
      const test::CaughtError failure = failure_of([&] { decode(file); });
      if (progressive && failure.reason == FailureReason::none) continue;
      ASSERT_EQ(failure.reason, FailureReason::corrupt) << size << " bytes and an end marker";
    }
  }
}

TEST(JpegDecoder, rejects_more_than_five_hundred_scans) {
  const Bytes file = make_jpeg(gradient_image({24, 40, 3, Depth::u8}), {.interleaved = false});
  EXPECT_NO_THROW(decode(test::with_last_scan_repeated(file, 498)));
  const test::CaughtError failure =
      failure_of([&] { decode(test::with_last_scan_repeated(file, 499)); });
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_THAT(failure.detail, HasSubstr("more than 500 scans"));
}

TEST(JpegDecoder, stops_many_scans_at_the_deadline) {
  const Bytes file =
      test::with_last_scan_repeated(make_jpeg(test::black_image({6000, 6000, 3, Depth::u8}),
                                              {.progressive = true, .has_refinement_scans = false}),
                                    490);
  ASSERT_LT(file.size(), 10u << 20);
  const test::CaughtError failure = failure_of([&] { decode(file, {.decode_s = 1}); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.decode_s = 1"));
}

TEST(JpegDecoder, counts_coefficients_as_decode_memory) {
  const Image image = gradient_image({1000, 1000, 3, Depth::u8});
  const Bytes baseline = make_jpeg(image, {}),
              progressive = make_jpeg(image, {.progressive = true});
  EXPECT_NO_THROW(decode(baseline, {.decode_mb = 4}));
  const test::CaughtError failure = failure_of([&] { decode(progressive, {.decode_mb = 4}); });
  EXPECT_EQ(failure.reason, FailureReason::too_large);
  EXPECT_THAT(failure.detail, HasSubstr("limits.decode_mb = 4"));
  EXPECT_NO_THROW(decode(progressive, {.decode_mb = 12}));
  EXPECT_EQ(failure_of([&] { decode(baseline, {.decode_mb = 2}); }).reason,
            FailureReason::too_large);
}

TEST(JpegDecoder, stops_every_scan_layout_at_the_deadline) {
  const Image image = gradient_image({75, 101, 3, Depth::u8});
  for (const JpegOptions kind :
       {JpegOptions{}, JpegOptions{.progressive = true}, JpegOptions{.interleaved = false}}) {
    EXPECT_EQ(failure_of([&] { decode(make_jpeg(image, kind), {.decode_s = 0}); }).reason,
              FailureReason::too_large);
  }
}

}  // namespace
}  // namespace eckart::codec
