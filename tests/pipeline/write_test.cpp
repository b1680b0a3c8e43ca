// Tests publishing of outputs.
#include "pipeline/write.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
    const io::Codec& codec = io::codec_for(format);
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
  }
}

}  // namespace
}  // namespace eckart::test
