// Inputs that the backend decodes, or has decoded: Task::encoded_input.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "codec/codec.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"

namespace eckart {
namespace {

using test::BackendTest;
using File = std::vector<std::byte>;

/// A task without pixels.
compute::Task encoded_task(const File& file, const std::vector<int>& ranks) {
  const codec::Codec& jpeg = codec::codec_for(ImageFormat::jpeg);
  auto undecoded = jpeg.read_undecoded(file, {});
  compute::Task task = test::make_task(Image(undecoded->encoded.header.shape()), ranks);
  task.encoded_input = std::make_shared<const compute::EncodedInput>(
      compute::EncodedInput{std::move(undecoded->encoded),
                            [&jpeg, file] { return jpeg.decode(file, ImageLimits()).pixels; }});
  return task;
}

std::vector<File> jpeg_files() {
  std::vector<File> files;
  for (const int channels : {1, 3}) {
    for (const auto& [rows, cols] : {std::pair{64, 96}, {90, 61}, {8, 8}, {33, 200}, {70, 70}}) {
      const Image image = synth::synthesize({.kind = synth::SynthKind::texture,
                                             .rows = rows,
                                             .cols = cols,
                                             .channels = channels,
                                             .seed = files.size()});
      files.push_back(codec::codec_for(ImageFormat::jpeg)
                          .encode(image, {.jpeg_subsampling = rows == 70 ? JpegSubsampling::k420
                                                                         : JpegSubsampling::k444}));
    }
  }
  return files;
}

double squared_error(const Image& a, const Image& b, int channel) {
  double sum = 0;
  for (int i = 0; i < a.shape().rows; ++i)
    for (int j = 0; j < a.shape().cols; ++j) {
      const double difference = double(a.plane<std::uint8_t>(channel)(i, j)) -
                                double(b.plane<std::uint8_t>(channel)(i, j));
      sum += difference * difference;
    }
  return sum;
}

class EncodedInputTest : public BackendTest {
 protected:
  void compute(std::vector<compute::Task>& tasks) {
    std::map<compute::BatchKey, std::vector<compute::Task*>> batches;
    for (compute::Task& task : tasks) batches[compute::batch_key(task, 32)].push_back(&task);
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    for (const auto& [key, batch] : batches) {
      lane->start(0, key, batch);
      lane->finish(0);
    }
  }
};

TEST_P(EncodedInputTest, is_computed_as_its_pixels) {
  const std::vector<File> files = jpeg_files();
  std::vector<compute::Task> tasks;
  for (const File& file : files) {
    tasks.push_back(encoded_task(file, {1, 5}));
    const Image pixels = codec::codec_for(ImageFormat::jpeg).decode(file, {}).pixels;
    tasks.push_back(test::make_task(pixels, {1, 5}));  // both kinds in a batch
  }
  compute(tasks);
  for (std::size_t i = 0; i < tasks.size(); i += 2) {
    const compute::Task &encoded = tasks[i], &decoded = tasks[i + 1];
    ASSERT_EQ(encoded.error, "");
    for (std::size_t r = 0; r < encoded.ranks.size(); ++r) {
      for (int c = 0; c < decoded.input.shape().channels; ++c) {
        const compute::PlaneResult& result = encoded.results[r][std::size_t(c)];
        EXPECT_EQ(result.squared_error, squared_error(encoded.outputs[r], decoded.input, c));
        EXPECT_DOUBLE_EQ(result.squared_norm, decoded.results[r][std::size_t(c)].squared_norm);
      }
    }
  }
}

/// Its neighbors in the batch are computed.
TEST_P(EncodedInputTest, fails_alone_if_it_is_damaged) {
  const File whole = jpeg_files()[0];
  File damaged = whole;
  std::fill_n(damaged.end() - 300, 200, std::byte(0x5A));
  std::vector<compute::Task> tasks;
  for (const File* file : std::initializer_list<const File*>{&whole, &damaged, &whole})
    tasks.push_back(encoded_task(*file, {3}));
  compute(tasks);
  EXPECT_EQ(tasks[0].error, "");
  EXPECT_EQ(tasks[2].error, "");
  EXPECT_NE(tasks[1].error, "");
  EXPECT_EQ(tasks[1].reason, FailureReason::corrupt);
  EXPECT_EQ(tasks[1].failed_stage, Stage::load);
  EXPECT_EQ(tasks[0].results[0][0].squared_error, tasks[2].results[0][0].squared_error);
}

INSTANTIATE_TEST_SUITE_P(All, EncodedInputTest, ::testing::ValuesIn(test::all_configs()),
                         test::config_name);

}  // namespace
}  // namespace eckart
