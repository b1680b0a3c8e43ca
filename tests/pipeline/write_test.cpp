// Tests publishing of outputs.
#include "pipeline/write.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/png_contents.hpp"
#include "pipeline/output_quality.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

/// Publishes all outputs of an image or none.
TEST(WriteStage, publishes_nothing_of_an_image_with_a_failed_output) {
  const TempFolder folder;
  const int images = 3;
  const Hook no_hook;
  const bool waits = false;
  FakeSource source(images, no_hook, waits);
  FakeBackend backend;
  FakeSteps steps(backend);
  steps.on_load = [](pipeline::WorkItem& item, pipeline::LoadContext& memory) {
    item.reservation = memory.reserve(2 * kSmall.bytes());
    fill(item, number_of(item));
  };
  steps.on_write = [&](pipeline::WorkItem& item) {
    const std::string name = item.file.string();
    item.publication.add(folder.path() / (name + ".first"), std::vector<std::byte>(1));
    if (name == "1") throw ItemError(FailureReason::not_encodable, "the second");
    item.publication.add(folder.path() / (name + ".second"), std::vector<std::byte>(1));
  };
  pipeline::Pipeline pipeline(source, steps, test_options(1, 1));
  EXPECT_EQ(pipeline.run().failed, 1);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "0.first"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "2.second"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "1.first"));
}

/// Its record has the errors of the output, which an earlier run has written.
TEST(WriteStage, measures_the_output_of_a_residual_that_is_added_later) {
  const TempFolder folder;
  for (const ImageFormat format : {ImageFormat::png, ImageFormat::jpeg}) {
    const auto item = make_item(1, {16, 16, 1, Depth::u8});
    item->outputs = {folder.path() / "a", folder.path() / "a.residual"};
    std::fill_n(item->task.input.data(), item->task.input.bytes(), std::byte(20));
    std::fill_n(item->task.outputs[0].data(), item->task.input.bytes(), std::byte(21));
    const codec::Codec& codec = codec::codec_for(format);
    pipeline::WriteOptions options{.measure = {.pixels = true}};
    options.measure.is_lossy = format == ImageFormat::jpeg;
    pipeline::encode_outputs(*item, &codec, options);
    const pipeline::OutputQuality both_written = item->qualities.at(1);
    item->skipped_reports = {"{}", std::nullopt};
    pipeline::encode_outputs(*item, &codec, options);
    const pipeline::OutputQuality& quality = item->qualities.at(1);
    EXPECT_EQ(quality.max_error, 1);
    EXPECT_NEAR(quality.relative_error, 1.0 / 20, 1e-12);
    EXPECT_EQ(quality.ssim, both_written.ssim);
    EXPECT_EQ(quality.file_squared_error, both_written.file_squared_error);
    options.measure.pixels = false;
    options.measure.files = true;
    pipeline::encode_outputs(*item, &codec, options);
    EXPECT_EQ(item->qualities.at(1).file_squared_error, both_written.file_squared_error);
  }
}

/// The disk may have been full at first.
TEST(WriteStage, knows_nothing_of_an_earlier_attempt) {
  const TempFolder folder;
  const auto item = make_item(1, {16, 16, 1, Depth::u8});
  item->outputs = {folder.path() / "a"};
  std::fill_n(item->task.outputs[0].data(), item->task.input.bytes(), std::byte(20));
  const codec::Codec& png = codec::codec_for(ImageFormat::png);
  pipeline::encode_outputs(*item, &png, {});
  const std::vector<std::int64_t> bytes = item->output_bytes;
  ASSERT_EQ(bytes.size(), 1U);
  pipeline::encode_outputs(*item, &png, {});
  EXPECT_EQ(item->output_bytes, bytes);
  EXPECT_EQ(item->output_mtimes_ns.size(), 1U);
  EXPECT_EQ(item->qualities.size(), 1U);
}

/// A backend that has encoded an output knows the error of its file.
TEST(WriteStage, decodes_no_file_that_the_backend_has_encoded) {
  const TempFolder folder;
  const codec::Codec& jpeg = codec::codec_for(ImageFormat::jpeg);
  const pipeline::WriteOptions options{.measure = {.is_lossy = true, .files = true}};
  const auto item = make_item(1, {16, 16, 1, Depth::u8});
  item->outputs = {folder.path() / "a"};
  const std::vector<std::byte> data(3, std::byte(0x5A));  // no decoder accepts them
  item->task.encoded_outputs = {{data, 70}};
  pipeline::encode_outputs(*item, &jpeg, options);
  EXPECT_EQ(item->qualities.at(0).file_squared_error, 70);
  item->task.encoded_outputs[0] = {data};
  EXPECT_THROW(pipeline::encode_outputs(*item, &jpeg, options), ItemError);
}

TEST(WriteStage, puts_pixels_that_the_backend_has_encoded_into_the_file) {
  const codec::Codec& png = codec::codec_for(ImageFormat::png);
  const auto item = make_item(1, {16, 16, 1, Depth::u8});
  item->outputs = {"a"};
  std::fill_n(item->task.outputs[0].data(), item->task.input.bytes(), std::byte(20));
  const std::vector<std::byte> expected = png.encode(item->task.outputs[0], {});
  const std::span<const std::byte> pixels = codec::read_png_contents(expected).parts.idat;
  item->task.encoded_outputs = {{std::vector<std::byte>(pixels.begin(), pixels.end())}};
  const std::vector<pipeline::EncodedFile> files = pipeline::encode_in_memory(*item, &png, {});
  std::vector<std::byte> storage;
  EXPECT_TRUE(std::ranges::equal(joined(files.at(0), storage), expected));
}

/// The backend has decoded the input, and not encoded the output.
TEST(WriteStage, decodes_the_input_if_the_file_is_compared_with_it) {
  const TempFolder folder;
  const codec::Codec& jpeg = codec::codec_for(ImageFormat::jpeg);
  const auto item = make_item(1, {16, 16, 1, Depth::u8});
  item->outputs = {folder.path() / "a"};
  std::fill_n(item->task.outputs[0].data(), item->task.input.bytes(), std::byte(20));
  item->task.encoded_input = std::make_shared<const compute::EncodedInput>(
      ByteBuffer(), compute::EncodedInput::EncodedImage(), [](std::span<const std::byte>) {
        Image decoded(ImageShape{16, 16, 1, Depth::u8});
        std::fill_n(decoded.data(), decoded.bytes(), std::byte(22));
        return decoded;
      });
  pipeline::encode_outputs(*item, &jpeg, {.measure = {.is_lossy = true, .files = true}});
  EXPECT_EQ(item->qualities.at(0).file_squared_error, 16 * 16 * 4);
}

/// The largest value of 12 bits.
TEST(WriteStage, clamps_the_outputs_of_a_dicom_image_to_the_bits_stored) {
  const auto item = make_item(1, {8, 8, 1, Depth::u16});
  const auto fill_with = [](Image& image, std::uint16_t value) {
    std::fill_n(image.plane<std::uint16_t>(0).data, image.shape().samples(), value);
  };
  fill_with(item->task.input, 4090);
  item->task.outputs.emplace_back(item->image_shape);
  item->task.results.push_back(item->task.results.front());
  fill_with(item->task.outputs[0], 4000);
  fill_with(item->task.outputs[1], 4100);
  item->outputs.resize(2);
  for (auto& planes : item->task.results) planes[0].squared_error = planes[0].residual = 6400;
  item->metadata.dicom.emplace().bits_stored = 12;
  pipeline::measure_outputs(*item, {.pixels = true});
  EXPECT_EQ(item->task.outputs[1].plane<std::uint16_t>(0)(7, 7), 4095);
  EXPECT_EQ(pipeline::output_errors(*item, 0).squared_error, 6400) << "within the range";
  EXPECT_EQ(pipeline::output_errors(*item, 1).squared_error, 64 * 25);
  EXPECT_EQ(pipeline::output_errors(*item, 1).residual, 6400) << "before clamping";
  EXPECT_EQ(item->qualities.at(1).max_error, 5);
}

TEST(WriteStage, measures_nothing_of_an_input_without_pixels) {
  const auto item = make_item(1, {8, 8, 1, Depth::u8});
  item->samples.emplace();
  item->outputs.resize(1);
  pipeline::measure_outputs(*item, {.pixels = true});
  const pipeline::OutputQuality& quality = item->qualities.at(0);
  EXPECT_TRUE(std::isnan(quality.ssim));
  EXPECT_TRUE(std::isnan(quality.max_error));
}

}  // namespace
}  // namespace eckart::test
