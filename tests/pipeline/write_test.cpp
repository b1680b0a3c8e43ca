// Tests publishing of outputs.
#include "pipeline/write.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
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

TEST(WriteStage, has_the_ssim_of_the_file) {
  const TempFolder folder;
  const codec::Codec& jpeg = codec::codec_for(ImageFormat::jpeg);
  const auto item = make_item(1, {32, 32, 1, Depth::u8});
  item->outputs = {folder.path() / "a"};
  for (std::size_t i = 0; i < item->task.input.bytes(); ++i)  // an exact reconstruction of noise
    item->task.input.data()[i] = item->task.outputs[0].data()[i] = std::byte(i * i * 37 >> 3);
  pipeline::WriteOptions options{.measure = {.is_lossy = true, .pixels = true}};
  options.encode.jpeg_quality = 10;
  pipeline::encode_outputs(*item, &jpeg, options);
  EXPECT_LT(item->qualities.at(0).ssim, 0.99);
  EXPECT_GT(item->qualities.at(0).file_squared_error, 0);
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

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// An item with an output and its residual, in a folder.
class EncodedOutputTest : public testing::Test {
 protected:
  EncodedOutputTest() {
    item_->outputs = {folder_.path() / "a.png", folder_.path() / "a.residual.png"};
    std::fill_n(item_->task.input.data(), item_->task.input.bytes(), std::byte(20));
    std::fill_n(item_->task.outputs[0].data(), item_->task.input.bytes(), std::byte(22));
  }
  void publish() {
    io::Publication* const group[] = {&item_->publication};
    io::publish(group, {.durable = false},
                [](std::size_t, const ItemError& error) { throw error; });
  }

  const TempFolder folder_;
  const codec::Codec& png_ = codec::codec_for(ImageFormat::png);
  const pipeline::ItemPtr item_ = make_item(1, {16, 16, 1, Depth::u8});
};

TEST_F(EncodedOutputTest, has_the_gain_of_its_residual) {
  pipeline::WriteOptions options{.stamp = "eckart 1.0"};
  const auto gain_with = [&](const ResidualChoice& choice) {
    options.residual = choice;
    pipeline::encode_outputs(*item_, &png_, options);
    publish();
    EXPECT_TRUE(std::isnan(item_->qualities.at(0).residual_gain));
    return item_->qualities.at(1).residual_gain;
  };
  EXPECT_EQ(gain_with({.gain = ResidualGain::number, .number = 3}), 3);
  std::string text = text_of(item_->outputs[1]);
  EXPECT_NE(text.find("eckart:residual_gain"), text.npos);
  EXPECT_EQ(text_of(item_->outputs[0]).find("eckart:residual_gain"), text.npos);
  const double largest = gain_with({.gain = ResidualGain::automatic});
  EXPECT_GT(largest, 3);
  options.stamp.clear();
  gain_with({.gain = ResidualGain::automatic});
  text = text_of(item_->outputs[1]);
  EXPECT_EQ(text.find("eckart:"), text.npos) << "no stamp was asked for";
}

TEST_F(EncodedOutputTest, replaces_that_of_an_earlier_attempt) {
  const std::vector<std::byte> expected = png_.encode(item_->task.outputs[0], {});
  const std::span<const std::byte> pixels = codec::read_png_contents(expected).parts.idat;
  item_->task.encoded_outputs = {{std::vector<std::byte>(pixels.begin(), pixels.end())}};
  for (int attempt = 0; attempt < 2; ++attempt) {
    pipeline::encode_outputs(*item_, &png_, {});
    EXPECT_EQ(item_->backend_encoded_outputs, 1);
    EXPECT_EQ(item_->output_bytes.size(), 2U);
    EXPECT_EQ(item_->output_mtimes_ns.size(), 2U);
    EXPECT_EQ(item_->qualities.size(), 2U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2)
        << "two temporary files";
  }
  publish();
  EXPECT_EQ(std::int64_t(std::filesystem::file_size(item_->outputs[0])), item_->output_bytes[0]);
}

TEST_F(EncodedOutputTest, has_the_time_of_its_input_only_if_times_are_kept) {
  item_->file_state.mtime_ns = 1600000000123456789;
  pipeline::encode_outputs(*item_, &png_, {.keeps_times = true});
  EXPECT_EQ(item_->output_mtimes_ns, std::vector<std::int64_t>(2, 1600000000123456789));
  pipeline::encode_outputs(*item_, &png_, {});
  EXPECT_NE(item_->output_mtimes_ns.at(0), 1600000000123456789);
}

/// Values of outputs that are not written keep their places.
TEST_F(EncodedOutputTest, keeps_its_place_beside_one_that_is_skipped) {
  item_->skipped_reports = {"{}"};
  pipeline::encode_outputs(*item_, &png_, {});
  EXPECT_EQ(item_->output_bytes.at(0), 0);
  EXPECT_GT(item_->output_bytes.at(1), 0);
  EXPECT_EQ(item_->output_mtimes_ns.at(0), 0);
  EXPECT_GT(item_->output_mtimes_ns.at(1), 0);
  ASSERT_EQ(item_->qualities.size(), 2U);
  EXPECT_EQ(item_->qualities[0].write_time.count(), 0);
  EXPECT_GT(item_->qualities[1].write_time.count(), 0);
}

TEST_F(EncodedOutputTest, has_the_times_of_its_stages) {
  item_->found_at = Clock::now() - std::chrono::hours(10);
  item_->load_time = std::chrono::hours(1), item_->compute_time = std::chrono::hours(2);
  pipeline::encode_outputs(*item_, &png_, {});
  EXPECT_EQ(std::chrono::floor<std::chrono::hours>(item_->wait_time).count(), 7);
  EXPECT_GT(item_->qualities.at(0).write_time.count(), 0);
}

/// Writes down the calls of the publication.
class OrderedOwner : public FakeOwner {
 public:
  void check_in_place() const override {
    calls += "check ";
    if (calls == moved_after + "check ") throw EnvironmentError("the folder was moved");
  }
  io::CollisionAction resolve_collision(const pipeline::WorkItem&, const std::filesystem::path&,
                                        const std::filesystem::path&) const override {
    throw EnvironmentError("the disk is gone");
  }
  void abandon_intents(std::span<pipeline::WorkItem* const> items) override {
    calls += "abandon" + files_of(items) + ' ';
  }
  void record(std::span<pipeline::WorkItem* const> items,
              std::span<pipeline::WorkItem* const> next) override {
    calls += "record" + files_of(items) + " intend" + files_of(next) + ' ';
  }

  mutable std::string calls;
  std::string moved_after = "never";

 private:
  static std::string files_of(std::span<pipeline::WorkItem* const> items) {
    std::string text;
    for (const pipeline::WorkItem* item : items) text += ':' + item->file.string();
    return text;
  }
};

class PublicationOrderTest : public testing::Test {
 protected:
  PublicationOrderTest() {
    for (int number = 1; number <= 2; ++number) {
      pipeline::ItemPtr& item = group_.emplace_back(make_item(number));
      item->outputs = {folder_.path() / item->file};
      item->task.encoded_outputs = {{std::vector<std::byte>(1)}};
      item->publication.add(item->outputs[0], std::vector<std::byte>(1));
      item->advance(pipeline::ItemState::written);
    }
  }
  bool is_published(int number) const {
    return std::filesystem::exists(folder_.path() / std::to_string(number));
  }

  const TempFolder folder_;
  OrderedOwner owner_;
  std::vector<pipeline::ItemPtr> group_;
};

TEST_F(PublicationOrderTest, has_intents_before_and_results_after_the_rename) {
  pipeline::publish_outputs(group_, owner_, false);
  EXPECT_EQ(owner_.calls, "check record intend:1:2 check ");
  EXPECT_TRUE(is_published(1) && is_published(2));
  EXPECT_EQ(group_[0]->state(), pipeline::ItemState::published);
  EXPECT_TRUE(group_[0]->task.encoded_outputs[0].data.empty()) << "the backend needs its memory";
  owner_.calls.clear();
  group_[1]->unavailable_outputs = {1};
  group_[1]->unavailable_reason = "few triplets";
  pipeline::publish_outputs(group_, owner_, false);
  EXPECT_EQ(owner_.calls, "check record:1:2 intend ");
  EXPECT_EQ(group_[0]->state(), pipeline::ItemState::recorded);
  EXPECT_TRUE(group_[0]->outcome.ok());
  EXPECT_FALSE(group_[0]->is_partly_done);
  EXPECT_TRUE(group_[1]->is_partly_done);
  EXPECT_EQ(group_[1]->outcome.stage, Stage::load);
  EXPECT_EQ(group_[1]->outcome.reason, FailureReason::unsupported);
  EXPECT_EQ(group_[1]->outcome.detail, "few triplets");
}

TEST_F(PublicationOrderTest, ends_before_the_rename_if_the_folder_was_moved) {
  owner_.moved_after = "";
  EXPECT_THROW(pipeline::publish_outputs(group_, owner_, false), EnvironmentError);
  EXPECT_FALSE(is_published(1));
  EXPECT_EQ(owner_.calls, "check ");
}

TEST_F(PublicationOrderTest, has_no_results_if_the_folder_was_moved_during_the_rename) {
  owner_.moved_after = "check record intend:1:2 ";
  EXPECT_THROW(pipeline::publish_outputs(group_, owner_, false), EnvironmentError);
  EXPECT_EQ(group_[0]->state(), pipeline::ItemState::written);
}

TEST_F(PublicationOrderTest, keeps_the_results_of_those_before_an_error) {
  std::ofstream(folder_.path() / "2") << "in the way";
  EXPECT_THROW(pipeline::publish_outputs(group_, owner_, false), EnvironmentError);
  EXPECT_EQ(owner_.calls.substr(0, 42), "check record intend:1:2 check abandon:2 re")
      << owner_.calls;
  for (const pipeline::ItemPtr& item : group_)
    EXPECT_EQ(item->state() == pipeline::ItemState::recorded, item->publication.is_published());
}

TEST_F(PublicationOrderTest, abandons_nothing_if_the_folder_was_moved) {
  std::ofstream(folder_.path() / "2") << "in the way";
  owner_.moved_after = "check record intend:1:2 ";
  EXPECT_THROW(pipeline::publish_outputs(group_, owner_, false), EnvironmentError);
  EXPECT_EQ(owner_.calls.find("abandon"), std::string::npos) << owner_.calls;
}

}  // namespace
}  // namespace eckart::test
