// Tests the PNG decoder against the same source on the CPU, which tests/unit/codec/png compares
// with libdeflate.
#include "compute/cuda/codecs/png_decoder.hpp"

#include <random>
#include <variant>

#include "codec/png/decoder.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"
#include "tests/backend/cuda/png_input_batch_fixture.hpp"
#include "tests/unit/codec/make_encoded_png.hpp"

namespace eckart::compute::cuda {
namespace {

using test::EncodedPng;
using test::make_encoded_png;
using test::RowContents;

class PngDecoderTest : public KernelTest {
 protected:
  /// Decodes the images in one batch. Expects the pixels or irregularities of the CPU, and that no
  /// byte beside the images is written. Returns the number of irregular images.
  int expect_results_of_the_cpu(const std::vector<EncodedPng>& images) {
    constexpr std::size_t kGap = 48;
    constexpr std::byte kUnwritten{0xA5};
    const PreparedPngs prepared(std::vector<codec::png::EncodedImage>(images.begin(), images.end()),
                                kGap);
    const DeviceArray<std::byte> pixels(
        std::vector<std::byte>(prepared.pixels_bytes(), kUnwritten));
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    decoder_.decode(prepared.plan(), prepared.streams(), pixels.get(), stream.get());
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    std::vector<std::byte> found = pixels.copy_to_host();
    int irregular = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      std::byte* const image = found.data() + prepared.inputs()[i].pixels_offset;
      const codec::png::Irregularity irregularity = decoder_.irregularities()[i];
      irregular += irregularity != codec::png::Irregularity::none;
      expect_result_of_the_cpu(images[i], irregularity, image);
      std::fill_n(image, images[i].shape.bytes(), kUnwritten);
    }
    EXPECT_EQ(std::ranges::count(found, kUnwritten), std::ptrdiff_t(found.size()));
    return irregular;
  }

 private:
  static void expect_result_of_the_cpu(const EncodedPng& encoded,
                                       codec::png::Irregularity irregularity,
                                       const std::byte* pixels) {
    const std::variant<Image, codec::png::Irregularity> expected = codec::png::decode(encoded);
    if (const auto* expected_irregularity = std::get_if<codec::png::Irregularity>(&expected)) {
      EXPECT_EQ(irregularity, *expected_irregularity);
      return;
    }
    const Image& image = std::get<Image>(expected);
    EXPECT_EQ(irregularity, codec::png::Irregularity::none);
    EXPECT_EQ(std::memcmp(pixels, image.data(), image.bytes()), 0);
  }

  PngDecoder decoder_;
};

TEST_F(PngDecoderTest, has_the_pixels_of_the_cpu_for_every_kind) {
  EXPECT_EQ(expect_results_of_the_cpu(test::encoded_pngs_of_every_kind()), 0);
}

/// A batch after a larger one: nothing of that is left.
TEST_F(PngDecoderTest, decodes_one_batch_after_another) {
  const std::vector<EncodedPng> images = test::encoded_pngs_of_every_kind();
  EXPECT_EQ(expect_results_of_the_cpu(images), 0);
  EXPECT_EQ(expect_results_of_the_cpu({images.rbegin(), images.rbegin() + 10}), 0);
  EXPECT_EQ(expect_results_of_the_cpu({images[3]}), 0);
}

TEST_F(PngDecoderTest, decodes_more_images_than_fit_on_the_gpu_at_once) {
  std::vector<EncodedPng> images;
  for (int i = 0; i < 6000; ++i)
    images.push_back(make_encoded_png({8 + i % 7, 8 + i % 11, 1, Depth::u8}, RowContents::gradient,
                                      {.level = 1 + i % 9}));
  EXPECT_EQ(expect_results_of_the_cpu(images), 0);
}

TEST_F(PngDecoderTest, decodes_large_images) {
  std::vector<EncodedPng> images;
  for (const RowContents contents : test::kAllRowContents) {
    for (const int level : {1, 9})
      images.push_back(make_encoded_png({1100, 900, 3, Depth::u8}, contents,
                                        {.level = level, .memory_level = 5 + level / 2}));
  }
  EXPECT_EQ(expect_results_of_the_cpu(images), 0);
}

/// Bits of every second image's stream are changed.
TEST_F(PngDecoderTest, reports_damage_and_decodes_the_others) {
  std::mt19937 random(1);
  std::vector<EncodedPng> images;
  for (const EncodedPng& image : test::encoded_pngs_of_every_kind()) {
    images.push_back(image);
    EncodedPng damaged = image;
    for (int change = 0; change < 2; ++change)
      damaged.stream[random() % image.stream.size()] ^= std::byte(1 << random() % 8);
    images.push_back(damaged);
  }
  const int irregular = expect_results_of_the_cpu(images);
  EXPECT_GT(irregular, int(images.size()) / 3);
  EXPECT_LE(irregular, int(images.size()) / 2);
}

TEST_F(PngDecoderTest, reports_streams_that_end_early) {
  const EncodedPng whole =
      make_encoded_png({200, 300, 3, Depth::u8}, RowContents::noise, {.level = 6});
  EncodedPng half = whole;
  half.stream.resize(half.stream.size() / 2);
  EXPECT_EQ(expect_results_of_the_cpu({whole, half, whole}), 1);
}

}  // namespace
}  // namespace eckart::compute::cuda
