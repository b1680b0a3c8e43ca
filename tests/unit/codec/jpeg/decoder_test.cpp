// Pixels: those of libjpeg, for every file that this decoder accepts.
#include <random>
#include <string>

#include "codec/jpeg/layout.hpp"
#include "synth/synth.hpp"
#include "tests/unit/codec/jpeg/both_decoders.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::codec::jpeg {
namespace {

using test::Bytes;
using test::find_marker;
using test::JpegOptions;
using test::make_jpeg;
using test::noise_image;

struct Sampling {
  int channels, across, down;
};

class BaselineJpegTest : public testing::TestWithParam<Sampling> {
 protected:
  static JpegOptions options(int quality) {
    return {.chroma_cols = GetParam().across, .chroma_rows = GetParam().down, .quality = quality};
  }
  /// Similar to a photograph, or to a slice if it is gray.
  static Image picture(int rows, int cols) {
    return synth::synthesize({.kind = synth::SynthKind::texture,
                              .rows = rows,
                              .cols = cols,
                              .channels = GetParam().channels});
  }
};

TEST_P(BaselineJpegTest, has_the_pixels_of_libjpeg_at_every_size) {
  for (int rows = 1; rows <= 40; ++rows) {
    for (int cols = 1; cols <= 40; ++cols) {
      const Image image = noise_image({rows, cols, GetParam().channels, Depth::u8});
      const int quality = 10 + (41 * rows + 7 * cols) % 91;
      ASSERT_EQ(decode_with_both(make_jpeg(image, options(quality))), Irregularity::none)
          << rows << " x " << cols;
    }
  }
}

TEST_P(BaselineJpegTest, has_the_pixels_of_libjpeg_at_every_quality) {
  const Image image = picture(208, 177);
  for (int quality = 1; quality <= 100; quality += 3)
    ASSERT_EQ(decode_with_both(make_jpeg(image, options(quality))), Irregularity::none) << quality;
}

/// Segments of more bits than guesses are made from: see guessed_bits().
TEST_P(BaselineJpegTest, has_the_pixels_of_libjpeg_for_large_images) {
  for (const Image& image :
       {picture(600, 800), noise_image({500, 400, GetParam().channels, Depth::u8})})
    EXPECT_EQ(decode_with_both(make_jpeg(image, options(95))), Irregularity::none);
}

/// Bytes are changed, removed or inserted.
TEST_P(BaselineJpegTest, decodes_no_damaged_file_otherwise_than_libjpeg) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t end) { return std::size_t(random() % end); };
  int accepted = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    Bytes file = make_jpeg(noise_image({17, 23, GetParam().channels, Depth::u8}),
                           options(int(20 + below(80))));
    for (std::size_t change = 0; change <= below(3); ++change) {
      const auto at = file.begin() + std::ptrdiff_t(below(file.size()));
      if (below(4) > 0) {
        *at = std::byte(below(256));
      } else if (below(2) > 0) {
        file.erase(at);
      } else {
        file.insert(at, std::byte(below(256)));
      }
    }
    const bool is_accepted = decode_with_both(file) == Irregularity::none;
    ++(is_accepted ? accepted : refused);
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

TEST_P(BaselineJpegTest, accepts_no_truncated_file) {
  const Bytes whole = make_jpeg(picture(24, 40), options(90));
  const Bytes end(whole.end() - 2, whole.end());
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    Bytes file(whole.begin(), whole.begin() + std::ptrdiff_t(size));
    ASSERT_NE(decode_with_both(file), Irregularity::none) << size;
    file.insert(file.end(), end.begin(), end.end());
    ASSERT_NE(decode_with_both(file), Irregularity::none) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplings, BaselineJpegTest,
                         testing::Values(Sampling{1, 1, 1}, Sampling{3, 1, 1}, Sampling{3, 2, 1},
                                         Sampling{3, 1, 2}, Sampling{3, 2, 2}));

TEST(BaselineJpeg, ignores_bytes_after_the_image) {
  Bytes file = make_jpeg(noise_image({24, 40, 3, Depth::u8}), {});
  file.insert(file.end(), 100, std::byte(0xFF));
  EXPECT_EQ(decode_with_both(file), Irregularity::none);
}

TEST(BaselineJpeg, leaves_data_after_the_last_block_to_libjpeg) {
  const Bytes file = make_jpeg(noise_image({24, 40, 1, Depth::u8}), {});
  const std::ptrdiff_t end = find_marker(file, 0xD9);
  for (const std::string_view stray : {std::string_view("\0", 1), std::string_view("\x12\x34\x56")})
    EXPECT_EQ(decode_with_both(test::with_inserted(file, end, stray)), Irregularity::data_left);
}

/// A quantization table of large values makes coefficients that libjpeg-turbo's versions for
/// different processors decode differently.
TEST(BaselineJpeg, leaves_coefficients_out_of_range_to_libjpeg) {
  Bytes file = make_jpeg(noise_image({24, 40, 1, Depth::u8}), {.quality = 100});
  const std::ptrdiff_t table = find_marker(file, 0xDB) + 5;
  std::fill_n(file.begin() + table, kBlockSize, std::byte(255));
  EXPECT_EQ(decode_with_both(file), Irregularity::value);
}

}  // namespace
}  // namespace eckart::codec::jpeg
