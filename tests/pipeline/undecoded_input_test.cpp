// Inputs whose pixels the backend decodes: Task::encoded_input.
#include <gtest/gtest.h>

#include <variant>

#include "codec/png/decoder.hpp"
#include "core/error.hpp"
#include "tests/pipeline/load_fixture.hpp"
#include "tests/unit/codec/make_jpeg.hpp"

namespace eckart {
namespace {

using test::Bytes;
using test::make_jpeg;

class UndecodedInputTest : public test::LoadTest {
 protected:
  UndecodedInputTest() {
    input_.needs_no_pixels = true;
    leaves_to_backend_ = true;
  }
  bool is_left_undecoded(const Bytes& file) {
    return load(write(file)).task.encoded_input != nullptr;
  }
};

TEST_F(UndecodedInputTest, has_the_pixels_of_the_file_when_they_are_needed) {
  const Bytes file = make_jpeg(image(), {});
  pipeline::WorkItem item = load(write(file));
  ASSERT_NE(item.task.encoded_input, nullptr);
  EXPECT_EQ(item.task.input.shape(), image().shape());
  EXPECT_EQ(item.input_bytes, std::int64_t(file.size()));
  EXPECT_TRUE(item.metadata.subsampling);
  compute::decode_input(item.task);
  EXPECT_EQ(item.task.encoded_input, nullptr);
  EXPECT_TRUE(
      test::same(item.task.input, codec::codec_for(ImageFormat::jpeg).decode(file, {}).pixels));
}

TEST_F(UndecodedInputTest, is_a_baseline_jpeg_or_a_png_of_samples) {
  EXPECT_TRUE(is_left_undecoded(make_jpeg(image(), {})));
  EXPECT_FALSE(is_left_undecoded(make_jpeg(image(), {.progressive = true})));
  EXPECT_TRUE(is_left_undecoded(png_file()));
  const codec::Codec& png = codec::codec_for(ImageFormat::png);
  const Image alpha = test::noise_image({24, 40, 1, Depth::u8});
  EXPECT_FALSE(is_left_undecoded(png.encode(test::noise_image({24, 40, 1, Depth::u16}), {})));
  EXPECT_FALSE(is_left_undecoded(png.encode({alpha, alpha, {}}, {})));
}

TEST_F(UndecodedInputTest, is_decoded_if_its_pixels_are_changed_or_measured) {
  const Bytes file = make_jpeg(image(), {});
  const pipeline::InputOptions usual = input_;
  input_.preparation.gray = true;
  EXPECT_FALSE(is_left_undecoded(file));
  input_ = usual;
  input_.color = ColorMode::ycbcr;
  EXPECT_FALSE(is_left_undecoded(file));
  input_ = usual;
  input_.decoder = Decoder::opencv;
  EXPECT_FALSE(is_left_undecoded(file));
  input_ = usual;
  input_.needs_no_pixels = false;
  EXPECT_FALSE(is_left_undecoded(file));
  input_ = usual;
  leaves_to_backend_ = false;
  EXPECT_FALSE(is_left_undecoded(file));
}

TEST_F(UndecodedInputTest, is_decoded_for_a_copy_at_full_rank) {
  ranks_ = {{1000}};
  const pipeline::WorkItem item = load(write(make_jpeg(image(), {})));
  EXPECT_EQ(item.task.encoded_input, nullptr);
  ASSERT_TRUE(item.skips_backend);
  EXPECT_TRUE(test::same(item.task.outputs.at(0), item.task.input));
}

/// With the subsampling that its output has.
TEST_F(UndecodedInputTest, may_have_outputs_that_the_backend_encodes) {
  input_.encoding = OutputEncoding{.format = OutputFormat::jpeg, .jpeg_quality = 80};
  const auto encoding_of = [&](const Bytes& file) { return load(write(file)).task.encoding; };
  const Bytes file = make_jpeg(image(), {.chroma_cols = 2, .chroma_rows = 2});
  OutputEncoding expected = *input_.encoding;
  expected.subsampling = {2, 2};
  EXPECT_EQ(encoding_of(file), expected);
  input_.jpeg_subsampling = JpegSubsampling::k444;
  EXPECT_EQ(encoding_of(file), *input_.encoding);
  input_.color = ColorMode::ycbcr;  // the output is not what the backend computes
  EXPECT_EQ(encoding_of(file), std::nullopt);
}

TEST_F(UndecodedInputTest, has_the_pixels_of_a_png_when_they_are_needed) {
  const Bytes file = png_file();
  pipeline::WorkItem item = load(write(file));
  ASSERT_NE(item.task.encoded_input, nullptr);
  EXPECT_EQ(item.undecoded_format, ImageFormat::png);
  const auto of_stream =
      codec::png::decode(std::get<codec::png::EncodedImage>(item.task.encoded_input->image()));
  compute::decode_input(item.task);
  EXPECT_TRUE(test::same(std::get<Image>(of_stream), item.task.input));
  EXPECT_TRUE(
      test::same(item.task.input, codec::codec_for(ImageFormat::png).decode(file, {}).pixels));
}

/// The bytes of the scan are found to be damaged only when they are decoded.
TEST_F(UndecodedInputTest, fails_as_a_file_that_cannot_be_loaded) {
  Bytes file = make_jpeg(image(), {});
  std::fill_n(file.end() - 2000, 1000, std::byte(0x5A));
  pipeline::WorkItem item = load(write(file));
  ASSERT_NE(item.task.encoded_input, nullptr);
  EXPECT_FALSE(compute::try_decode_input(item.task));
  EXPECT_EQ(item.task.reason, FailureReason::corrupt);
  EXPECT_EQ(item.task.failed_stage, Stage::load);
  EXPECT_NE(item.task.error, "");
}

}  // namespace
}  // namespace eckart
