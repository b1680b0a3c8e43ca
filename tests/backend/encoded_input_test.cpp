// Inputs that the backend decodes, or has decoded: Task::encoded_input.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/unit/codec/png_maker.hpp"

namespace eckart {
namespace {

using test::BackendTest;
using File = std::vector<std::byte>;

/// A task without pixels.
compute::Task encoded_task(const File& file, const std::vector<int>& ranks) {
  const codec::Codec& codec = codec::detect_codec(std::span<const std::byte>(file));
  ByteBuffer bytes(file.begin(), file.end());
  auto undecoded = codec.read_undecoded(bytes, {});
  compute::Task task = test::make_task(Image(undecoded->picture.pixels.shape()), ranks);
  task.encoded_input = std::make_shared<const compute::EncodedInput>(
      std::move(bytes), std::move(undecoded->encoded), [&codec](std::span<const std::byte> whole) {
        return codec.decode(whole, ImageLimits()).pixels;
      });
  return task;
}

/// JPEGs and PNGs of the same shapes.
std::vector<File> image_files() {
  std::vector<File> files;
  std::uint64_t seed = 0;
  for (const int channels : {1, 3}) {
    for (const auto& [rows, cols] : {std::pair{64, 96}, {90, 61}, {8, 8}, {33, 200}, {70, 70}}) {
      const Image image = synth::synthesize({.kind = synth::SynthKind::texture,
                                             .rows = rows,
                                             .cols = cols,
                                             .channels = channels,
                                             .seed = seed++});
      files.push_back(codec::codec_for(ImageFormat::jpeg)
                          .encode(image, {.jpeg_subsampling = rows == 70 ? JpegSubsampling::k420
                                                                         : JpegSubsampling::k444}));
      files.push_back(codec::codec_for(ImageFormat::png).encode(image, {}));
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
  void compute(std::vector<compute::Task>& tasks) { compute(*make()->make_lane(0), tasks); }
  static void compute(compute::Lane& lane, std::vector<compute::Task>& tasks) {
    std::map<compute::BatchKey, std::vector<compute::Task*>> batches;
    for (compute::Task& task : tasks) batches[compute::batch_key(task, 32)].push_back(&task);
    for (const auto& [key, batch] : batches) {
      lane.start(0, key, batch);
      lane.finish(0);
    }
  }
};

TEST_P(EncodedInputTest, is_computed_as_its_pixels) {
  const std::vector<File> files = image_files();
  std::vector<compute::Task> tasks;
  for (const File& file : files) {
    tasks.push_back(encoded_task(file, {1, 5}));
    const Image pixels =
        codec::detect_codec(std::span<const std::byte>(file)).decode(file, {}).pixels;
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

/// On the CPU nothing is decoded, so that there is no time.
TEST_P(EncodedInputTest, corrects_the_rate_by_the_time_that_it_took) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  const std::vector<File> files = image_files();
  for (const bool is_jpeg : {true, false}) {
    const ImageFormat format = is_jpeg ? ImageFormat::jpeg : ImageFormat::png;
    const File& file = files[is_jpeg ? 0 : 1];
    const auto decoding_s = [&] {
      return backend->decoding_rate(format, {64, 96, 1, Depth::u8}).s(file.size());
    };
    const double built_in_s = decoding_s();
    for (int batch = 0; batch < 5; ++batch) {
      std::vector<compute::Task> tasks;
      tasks.push_back(encoded_task(file, {3}));
      compute(*lane, tasks);
    }
    if (built_in_s > 0) {
      EXPECT_NE(decoding_s(), built_in_s);
      EXPECT_GT(decoding_s(), 0);
    } else {
      EXPECT_EQ(decoding_s(), 0);
    }
  }
}

/// A row is missing.
File damaged_png(int rows, int cols) {
  const std::string whole_rows(std::size_t(rows - 1) * std::size_t(1 + cols), '\0');
  return test::PngMaker(std::uint32_t(cols), std::uint32_t(rows), 8, 0).pixels(whole_rows).end();
}

/// Its neighbors in the batch are computed.
TEST_P(EncodedInputTest, fails_alone_if_it_is_damaged) {
  const std::vector<File> files = image_files();
  const File &jpeg = files[0], &png = files[1];
  File damaged_jpeg = jpeg;
  std::fill_n(damaged_jpeg.end() - 300, 200, std::byte(0x5A));
  const File damaged = damaged_png(64, 96);
  std::vector<compute::Task> tasks;
  for (const File* file :
       std::initializer_list<const File*>{&jpeg, &damaged_jpeg, &png, &damaged, &jpeg, &png})
    tasks.push_back(encoded_task(*file, {3}));
  compute(tasks);
  for (const std::size_t whole : {0, 2, 4, 5}) EXPECT_EQ(tasks[whole].error, "");
  for (const std::size_t i : {1, 3}) {
    EXPECT_NE(tasks[i].error, "");
    EXPECT_EQ(tasks[i].reason, FailureReason::corrupt);
    EXPECT_EQ(tasks[i].failed_stage, Stage::load);
  }
  EXPECT_EQ(tasks[0].results[0][0].squared_error, tasks[4].results[0][0].squared_error);
  EXPECT_EQ(tasks[2].results[0][0].squared_error, tasks[5].results[0][0].squared_error);
}

INSTANTIATE_TEST_SUITE_P(All, EncodedInputTest, ::testing::ValuesIn(test::all_configs()),
                         test::config_name);

}  // namespace
}  // namespace eckart
