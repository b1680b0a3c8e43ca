// Tests the JPEG encoder against the same source on the CPU, which tests/unit/codec/jpeg compares
// with libjpeg.
#include "compute/cuda/codecs/jpeg_encoder.hpp"

#include <algorithm>
#include <vector>

#include "codec/jpeg/encoder.hpp"
#include "codec/jpeg/standard_tables.hpp"
#include "synth/synth.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {
namespace {

using codec::jpeg::Layout;

struct TestImage {
  Layout layout;
  Image pixels, original;
};

enum class Content { black, noise, gradient, texture };
constexpr Content kContents[] = {Content::black, Content::noise, Content::gradient,
                                 Content::texture};

Image make_image(const ImageShape& shape, Content content) {
  switch (content) {
    case Content::black:
      return test::black_image(shape);
    case Content::noise:
      return test::noise_image(shape);
    case Content::gradient:
      return test::gradient_image(shape);
    case Content::texture:
      break;
  }
  return synth::synthesize({.kind = synth::SynthKind::texture,
                            .rows = shape.rows,
                            .cols = shape.cols,
                            .channels = shape.channels});
}

class JpegEncoderTest : public KernelTest {
 protected:
  void add(const ImageShape& shape, const ChromaSubsampling& subsampling, Content content) {
    TestImage image{*codec::jpeg::encoding_layout(shape, subsampling), make_image(shape, content),
                    make_image(shape, Content::gradient)};
    const auto at = std::int64_t(pixels_.size());
    batch_.add(image.layout, at, at);
    append(image.pixels, pixels_);
    append(image.original, originals_);
    images_.push_back(std::move(image));
  }
  void add_all_samplings(int rows, int cols, Content content) {
    add({rows, cols, 1, Depth::u8}, {}, content);
    for (const ChromaSubsampling& subsampling : {ChromaSubsampling{1, 1}, {2, 1}, {1, 2}, {2, 2}})
      add({rows, cols, 3, Depth::u8}, subsampling, content);
  }

  void encode(int quality, std::size_t capacity, bool is_compared = true) {
    tables_ = build_encoding_tables(codec::jpeg::standard_tables(quality, 3));
    const DeviceArray<std::byte> pixels(pixels_), originals(originals_);
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    encoder_.encode(pixels.get(), is_compared ? originals.get() : nullptr, batch_, tables_,
                    capacity, stream.get());
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  }

  /// Returns whether an image has the data and the error of the CPU.
  bool is_right(std::size_t i) const {
    const TestImage& image = images_[i];
    const auto expected = encode_scan(image.pixels, image.original, image.layout, tables_);
    if (!expected.squared_error) return encoder_.data(i).empty();
    return std::ranges::equal(encoder_.data(i), expected.data) &&
           encoder_.squared_error(i) == *expected.squared_error;
  }
  void expect_all_right() const {
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Layout& layout = images_[i].layout;
      ASSERT_TRUE(is_right(i)) << i << ": " << layout.rows << " x " << layout.cols << " x "
                               << layout.channels << ", " << layout.across << " x " << layout.down;
    }
  }
  void clear() {
    images_.clear();
    pixels_.clear();
    originals_.clear();
    batch_.clear();
  }

  std::vector<TestImage> images_;
  std::vector<std::byte> pixels_, originals_;
  JpegOutputBatch batch_;
  codec::jpeg::EncodingTables tables_{};
  JpegEncoder encoder_;

 private:
  static void append(const Image& image, std::vector<std::byte>& to) {
    to.insert(to.end(), image.data(), image.data() + image.bytes());
    to.resize((to.size() + 15) / 16 * 16);
  }
};

constexpr std::size_t kEnough = std::size_t(64) << 20;

TEST_F(JpegEncoderTest, makes_the_bytes_of_the_cpu) {
  for (const auto& [rows, cols] : {std::pair{1, 1},
                                   {7, 9},
                                   {8, 8},
                                   {17, 33},
                                   {16, 16},
                                   {1, 3000},
                                   {3000, 1},
                                   {255, 257},
                                   {208, 176},
                                   {512, 768}})
    for (const Content content : kContents) add_all_samplings(rows, cols, content);
  for (const int quality : {1, 30, 75, 95, 100}) {
    encode(quality, kEnough);
    expect_all_right();
  }
}

/// More images than a block of threads places at a time.
TEST_F(JpegEncoderTest, encodes_thousands_of_images) {
  for (int i = 0; i < 500; ++i) add_all_samplings(1 + i % 17, 1 + i % 23, kContents[i % 4]);
  encode(90, kEnough);
  expect_all_right();
}

TEST_F(JpegEncoderTest, leaves_out_images_without_room) {
  for (int i = 0; i < 20; ++i) add({100, 100, 1, Depth::u8}, {}, Content::noise);
  encode(95, 50000);
  std::size_t made = 0;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (encoder_.data(i).empty()) continue;
    EXPECT_TRUE(is_right(i));
    ++made;
  }
  const std::size_t bytes = encoder_.data(0).size(), aligned = (bytes + 15) / 16 * 16;
  EXPECT_EQ(made, 1 + (50000 - bytes) / aligned);
}

TEST_F(JpegEncoderTest, compares_only_if_originals_are_given) {
  add_all_samplings(100, 101, Content::texture);
  encode(95, kEnough, /*is_compared=*/false);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const TestImage& image = images_[i];
    EXPECT_TRUE(std::ranges::equal(
        encoder_.data(i), encode_scan(image.pixels, image.original, image.layout, tables_).data));
  }
}

TEST_F(JpegEncoderTest, encodes_one_batch_after_the_other) {
  for (int round = 0; round < 3; ++round) {
    clear();
    for (int i = 0; i < 2 + 3 * round; ++i) add_all_samplings(120, 90, kContents[i % 4]);
    encode(60 + 10 * round, kEnough);
    expect_all_right();
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
