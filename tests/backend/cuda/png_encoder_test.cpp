#include "compute/cuda/codecs/png_encoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "codec/png/filter.hpp"
#include "codec/png/idat_chunks.hpp"
#include "tests/backend/cuda/device_array.hpp"
#include "tests/backend/cuda/gpu_unavailable_message.hpp"

namespace eckart::compute::cuda {
namespace {

using Bytes = std::vector<std::byte>;

/// The samples of images that differ in how well they compress.
enum class PngContent { zeros, noise, few_values, runs, ramp };

struct PngTestImage {
  ImageShape shape;
  Bytes samples;
};

PngTestImage make_image(const ImageShape& shape, PngContent content, unsigned seed) {
  PngTestImage image{shape, Bytes(shape.bytes())};
  std::mt19937 random(seed);
  unsigned value = 0, rest = 0;
  for (std::size_t i = 0; i < image.samples.size(); ++i) {
    switch (content) {
      case PngContent::zeros:
        break;
      case PngContent::noise:
        value = random();
        break;
      case PngContent::few_values:
        value = random() % 3;
        break;
      case PngContent::runs:
        if (rest-- == 0) {
          value = random();
          rest = random() % 700;
        }
        break;
      case PngContent::ramp:
        value = unsigned(i / 7) + random() % 4;
        break;
    }
    image.samples[i] = std::byte(value & 0xFF);
  }
  return image;
}

/// The chunks that the CPU makes.
Bytes expected_chunks(const PngTestImage& image) {
  const ImageShape& shape = image.shape;
  const std::size_t row_bytes = shape.bytes() / std::size_t(shape.rows);
  Bytes samples = image.samples;
  if (shape.depth == Depth::u16)
    for (std::size_t i = 0; i < samples.size(); i += 2) std::swap(samples[i], samples[i + 1]);
  const auto* row = reinterpret_cast<const std::uint8_t*>(samples.data());
  const std::vector<std::uint8_t> zeros(row_bytes);
  std::vector<std::uint8_t> filtered(std::size_t(shape.rows) * (1 + row_bytes));
  for (int r = 0; r < shape.rows; ++r, row += row_bytes) {
    std::uint8_t* const to = &filtered[std::size_t(r) * (1 + row_bytes)];
    *to = std::uint8_t(codec::png::Filter::paeth);
    codec::png::filter_row({row, r == 0 ? zeros.data() : row - row_bytes, row_bytes,
                            std::size_t(shape.channels) * std::size_t(shape.depth)},
                           codec::png::Filter::paeth, to + 1);
  }
  Bytes chunks;
  codec::png::append_idat_chunks(filtered, chunks);
  return chunks;
}

class PngEncoderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string message = gpu_unavailable_message(); !message.empty())
      GTEST_SKIP() << message;
  }

  void add(const ImageShape& shape, PngContent content) {
    images_.push_back(make_image(shape, content, unsigned(images_.size())));
    batch_.add(shape, std::int64_t(samples_.size()));
    samples_.insert(samples_.end(), images_.back().samples.begin(), images_.back().samples.end());
    samples_.resize((samples_.size() + 15) / 16 * 16);
  }

  void encode(std::size_t capacity) {
    const DeviceArray<std::byte> samples(samples_);
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    encoder_.encode(samples.get(), batch_, capacity, stream.get());
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }

  /// Returns whether an image has the chunks of the CPU, byte for byte.
  bool is_right(std::size_t image) const {
    const std::span<const std::byte> chunks = encoder_.chunks(image);
    return std::ranges::equal(chunks, expected_chunks(images_[image]));
  }

  std::vector<PngTestImage> images_;
  Bytes samples_;
  PngBatch batch_;
  PngEncoder encoder_;
};

constexpr PngContent kPngContents[] = {PngContent::zeros, PngContent::noise, PngContent::few_values,
                                       PngContent::runs, PngContent::ramp};

TEST_F(PngEncoderTest, makes_the_bytes_of_the_cpu) {
  for (const auto& [rows, cols] : {std::pair{1, 1},
                                   {1, 2},
                                   {3, 7},
                                   {31, 33},
                                   {1, 70000},
                                   {70000, 1},
                                   {255, 256},
                                   {256, 255},
                                   {208, 176},
                                   {300, 700}}) {
    for (const int channels : {1, 3}) {
      for (const Depth depth : {Depth::u8, Depth::u16}) {
        for (const PngContent content : kPngContents) add({rows, cols, channels, depth}, content);
      }
    }
  }
  encode(samples_.size() * 2);
  for (std::size_t i = 0; i < images_.size(); ++i)
    ASSERT_TRUE(is_right(i)) << i << ": " << images_[i].shape.rows << " x "
                             << images_[i].shape.cols;
}

/// More images than a block of threads places at a time.
TEST_F(PngEncoderTest, encodes_thousands_of_images) {
  for (int i = 0; i < 2500; ++i) add({1 + i % 17, 1 + i % 23, 1, Depth::u8}, kPngContents[i % 5]);
  encode(std::size_t(1) << 20);
  for (std::size_t i = 0; i < images_.size(); ++i) ASSERT_TRUE(is_right(i)) << i;
}

TEST_F(PngEncoderTest, leaves_out_images_without_room) {
  for (int i = 0; i < 20; ++i) add({100, 100, 1, Depth::u8}, PngContent::noise);
  encode(50000);
  int made = 0;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (encoder_.chunks(i).empty()) continue;
    EXPECT_TRUE(is_right(i));
    ++made;
  }
  EXPECT_EQ(made, 4);
}

TEST_F(PngEncoderTest, encodes_one_batch_after_the_other) {
  for (int round = 0; round < 3; ++round) {
    images_.clear();
    samples_.clear();
    batch_.clear();
    for (int i = 0; i < 5 + 20 * round; ++i) add({208, 176, 1, Depth::u8}, PngContent::ramp);
    encode(samples_.size());
    for (std::size_t i = 0; i < images_.size(); ++i) EXPECT_TRUE(is_right(i));
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
