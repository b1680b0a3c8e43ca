// Tests the JPEG decoder against the same source on the CPU, which tests/unit/codec/jpeg compares
// with libjpeg.
#include <optional>
#include <random>
#include <variant>

#include "codec/jpeg/decoder.hpp"
#include "tests/backend/cuda/jpeg_batch_fixture.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Irregularity;
using test::Bytes;
using test::gradient_image;
using test::JpegOptions;
using test::make_jpeg;
using test::noise_image;

class JpegDecoderTest : public KernelTest {
 protected:
  /// Decodes the files in one batch. Expects the pixels or irregularities of the CPU, and that no
  /// byte beside the images is written. Returns the number of irregular files.
  int expect_results_of_the_cpu(const std::vector<Bytes>& files) {
    constexpr std::size_t kGap = 48;
    constexpr std::byte kUnwritten{0xA5};
    const PreparedJpegs prepared(files, kGap);
    const DeviceArray<std::byte> pixels(
        std::vector<std::byte>(prepared.pixels_bytes(), kUnwritten));
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    const JpegBatch batch = prepared.plan();
    if (!decoder_) decoder_.emplace();
    decoder_->decode(batch, prepared.data(), pixels.get(), stream.get());
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    std::vector<std::byte> found = pixels.copy_to_host();
    int irregular = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
      const JpegInput& input = prepared.inputs()[i];
      std::byte* image = found.data() + input.pixels_offset;
      const Irregularity irregularity = decoder_->irregularities()[i];
      irregular += irregularity != Irregularity::none;
      expect_result_of_the_cpu(files[i], irregularity, image);
      std::fill_n(image, input.header->shape().bytes(), kUnwritten);
    }
    EXPECT_EQ(std::ranges::count(found, kUnwritten), std::ptrdiff_t(found.size()));
    return irregular;
  }

 private:
  static void expect_result_of_the_cpu(const Bytes& file, Irregularity irregularity,
                                       const std::byte* pixels) {
    const std::variant<Image, Irregularity> expected = codec::jpeg::decode(file);
    if (const auto* expected_irregularity = std::get_if<Irregularity>(&expected)) {
      EXPECT_EQ(irregularity, *expected_irregularity);
      return;
    }
    const Image& image = std::get<Image>(expected);
    EXPECT_EQ(irregularity, Irregularity::none);
    EXPECT_EQ(std::memcmp(pixels, image.data(), image.bytes()), 0);
  }

  std::optional<JpegDecoder> decoder_;  // made by the first batch: a test without a GPU is skipped
};

std::vector<Bytes> files_of_every_kind() {
  std::vector<Bytes> files;
  for (const auto& [rows, cols] :
       {std::pair(208, 176), {1, 1}, {3, 2}, {8, 8}, {17, 33}, {100, 5}, {63, 130}}) {
    files.push_back(make_jpeg(noise_image({rows, cols, 1, Depth::u8}), {}));
    for (const int across : {1, 2}) {
      for (const int down : {1, 2}) {
        const JpegOptions kind{
            .chroma_cols = across, .chroma_rows = down, .quality = 70 + rows % 30};
        files.push_back(make_jpeg(noise_image({rows, cols, 3, Depth::u8}), kind));
        files.push_back(make_jpeg(gradient_image({rows, cols, 3, Depth::u8}), kind));
      }
    }
  }
  return files;
}

TEST_F(JpegDecoderTest, has_the_pixels_of_the_cpu_for_every_kind) {
  EXPECT_EQ(expect_results_of_the_cpu(files_of_every_kind()), 0);
}

/// A batch after a larger one: nothing of that is left.
TEST_F(JpegDecoderTest, decodes_one_batch_after_another) {
  const std::vector<Bytes> files = files_of_every_kind();
  EXPECT_EQ(expect_results_of_the_cpu(files), 0);
  EXPECT_EQ(expect_results_of_the_cpu({files.rbegin(), files.rbegin() + 10}), 0);
  EXPECT_EQ(expect_results_of_the_cpu({files[3]}), 0);
}

TEST_F(JpegDecoderTest, decodes_more_images_than_warps) {
  std::vector<Bytes> files;
  for (int i = 0; i < 6000; ++i)
    files.push_back(make_jpeg(noise_image({8 + i % 7, 8 + i % 11, 1, Depth::u8}), {}));
  EXPECT_EQ(expect_results_of_the_cpu(files), 0);
}

TEST_F(JpegDecoderTest, decodes_a_large_image) {
  EXPECT_EQ(expect_results_of_the_cpu({make_jpeg(noise_image({1500, 2100, 3, Depth::u8}),
                                                 {.chroma_cols = 2, .chroma_rows = 2})}),
            0);
}

/// Guesses of where codes begin are right for some images, and wrong for others.
TEST_F(JpegDecoderTest, decodes_large_images_of_every_kind) {
  std::vector<Bytes> files;
  for (const int across : {1, 2}) {
    for (const int down : {1, 2}) {
      for (const int quality : {10, 50, 95}) {
        const JpegOptions kind{.chroma_cols = across, .chroma_rows = down, .quality = quality};
        Image flat({700, 900, 3, Depth::u8});
        std::fill_n(flat.data(), flat.bytes(), std::byte(77));
        files.push_back(make_jpeg(flat, kind));
        files.push_back(make_jpeg(noise_image({400, 300, 3, Depth::u8}), kind));
        files.push_back(make_jpeg(gradient_image({700, 900, 3, Depth::u8}), kind));
      }
    }
  }
  files.push_back(make_jpeg(noise_image({500, 700, 1, Depth::u8}), {}));
  EXPECT_EQ(expect_results_of_the_cpu(files), 0);
  for (int batch = 0; batch < 5; ++batch) {  // fewer threads for each
    const std::vector<Bytes> copy = files;
    files.insert(files.end(), copy.begin(), copy.end());
  }
  EXPECT_EQ(expect_results_of_the_cpu({files.begin(), files.begin() + 1100}), 0);
}

/// Bytes of every second file's data are changed.
TEST_F(JpegDecoderTest, reports_damaged_data_and_decodes_their_neighbors) {
  std::mt19937 random(1);
  std::vector<Bytes> files;
  for (int i = 0; i < 400; ++i) {
    const Bytes file =
        make_jpeg(noise_image({24, 40, i % 3 == 0 ? 1 : 3, Depth::u8}), {.chroma_cols = 1 + i % 2});
    const std::ptrdiff_t scan = test::find_marker(file, 0xDA) + 14;
    files.push_back(file);
    Bytes damaged = file;
    for (int change = 0; change < 3; ++change) {
      const auto at = std::size_t(scan) + random() % (file.size() - std::size_t(scan) - 2);
      if (damaged[at] != std::byte(0xFF) && damaged[at - 1] != std::byte(0xFF))
        damaged[at] = std::byte(random() % 255);
    }
    files.push_back(damaged);
  }
  const int irregular = expect_results_of_the_cpu(files);
  EXPECT_GT(irregular, 50);
  EXPECT_LE(irregular, 400);
}

TEST_F(JpegDecoderTest, reports_data_that_end_early) {
  const Bytes whole = make_jpeg(noise_image({200, 300, 3, Depth::u8}), {});
  Bytes file(whole.begin(), whole.begin() + std::ptrdiff_t(whole.size() / 2));
  if (file.back() == std::byte(0xFF)) file.pop_back();
  file.insert(file.end(), whole.end() - 2, whole.end());
  EXPECT_EQ(expect_results_of_the_cpu({whole, file, whole}), 1);
}

/// Coefficients that a quantization table makes too large.
TEST_F(JpegDecoderTest, reports_values_out_of_range) {
  const Bytes whole = make_jpeg(noise_image({64, 64, 1, Depth::u8}), {.quality = 100});
  Bytes file = whole;
  std::fill_n(file.begin() + test::find_marker(file, 0xDB) + 5, 64, std::byte(255));
  EXPECT_EQ(expect_results_of_the_cpu({whole, file, whole}), 1);
}

}  // namespace
}  // namespace eckart::compute::cuda
