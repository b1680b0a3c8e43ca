// Outputs that the backend encodes, see Task::encoding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "analysis/comparison.hpp"
#include "codec/codec.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/support/file_around.hpp"

namespace eckart {
namespace {

using test::BackendTest;

/// The pixels of a file of an output, whichever way the backend gives it.
Image pixels_of_file(const compute::Task& task, std::size_t output) {
  const OutputEncoding encoding = *task.encoding;
  const codec::Codec& codec = codec::codec_for(encoding.format);
  Metadata metadata;
  metadata.subsampling = encoding.subsampling;
  const Image opaque;
  const PictureView picture(task.outputs[output], opaque, metadata);
  const EncodeOptions options{.jpeg_quality = encoding.jpeg_quality};
  if (output >= task.encoded_outputs.size())
    return codec.decode(codec.encode(picture, options), {}).pixels;
  const std::span<const std::byte> pixels = task.encoded_outputs[output].data;
  return codec.decode(test::file_around(pixels, codec.encode_head_and_tail(picture, options)), {})
      .pixels;
}

double squared_error(const Image& a, const Image& b, int channel) {
  double sum = 0;
  for (int i = 0; i < a.shape().rows; ++i)
    for (int j = 0; j < a.shape().cols; ++j)
      with_sample_type(a.shape().depth, [&]<class T>(T*) {
        const double difference =
            double(a.plane<T>(channel)(i, j)) - double(b.plane<T>(channel)(i, j));
        sum += difference * difference;
      });
  return sum;
}

/// Sizes and contents of one batch key and of others; noise needs another solver.
std::vector<Image> test_images(std::initializer_list<Depth> depths) {
  std::vector<Image> images;
  for (const int channels : {1, 3}) {
    for (const Depth depth : depths) {
      for (const auto& [rows, cols] : {std::pair{64, 96}, {90, 61}, {1, 1}, {33, 200}}) {
        for (const auto kind : {synth::SynthKind::texture, synth::SynthKind::noise})
          images.push_back(synth::synthesize({.kind = kind,
                                              .rows = rows,
                                              .cols = cols,
                                              .channels = channels,
                                              .depth = depth,
                                              .seed = images.size()}));
      }
    }
  }
  return images;
}

class EncodedOutputTest : public BackendTest {
 protected:
  /// Computes the images at two ranks, twice, the second time with memory that was used. `check` is
  /// called with each image and its task. Expects that CUDA encodes at least half of them.
  template <class Check>
  void compute_encoded(const std::vector<Image>& images, const OutputEncoding& encoding,
                       const Check& check) {
    std::vector<compute::Task> tasks;
    std::map<compute::BatchKey, std::vector<compute::Task*>> batches;
    for (const Image& image : images) {
      tasks.push_back(test::make_task(image, {1, 5}));
      tasks.back().encoding = encoding;
    }
    for (compute::Task& task : tasks) batches[compute::batch_key(task, 32)].push_back(&task);
    const auto backend = make();
    const auto lane = backend->make_lane(0);
    for (int round = 0; round < 2; ++round) {
      for (const auto& [key, batch] : batches) {
        lane->start(0, key, batch);
        lane->finish(0);
      }
      std::size_t encoded = 0;
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        ASSERT_EQ(tasks[i].error, "");
        encoded += tasks[i].encoded_outputs.empty() ? 0 : 1;
        for (std::size_t r = 0; r < tasks[i].ranks.size(); ++r) check(images[i], tasks[i], r);
      }
      const bool is_cuda = GetParam().backend == settings::BackendChoice::cuda;
      EXPECT_GE(encoded, is_cuda ? tasks.size() / 2 : 0);
    }
  }
};

TEST_P(EncodedOutputTest, has_the_pixels_that_were_measured_as_png) {
  compute_encoded(test_images({Depth::u8, Depth::u16}), {.format = OutputFormat::png},
                  [](const Image& image, const compute::Task& task, std::size_t r) {
                    const Image pixels = pixels_of_file(task, r);
                    for (int c = 0; c < pixels.shape().channels; ++c)
                      EXPECT_EQ(squared_error(pixels, image, c),
                                task.results[r][std::size_t(c)].squared_error);
                  });
}

/// Its file differs from the pixels that were measured by no more than what the quality loses.
TEST_P(EncodedOutputTest, has_about_the_pixels_that_were_measured_as_jpeg) {
  constexpr double kMaxLoss = 40;  // root mean square, of noise in color with 4:2:0
  for (const ChromaSubsampling& subsampling : {ChromaSubsampling{1, 1}, {2, 1}, {1, 2}, {2, 2}}) {
    const OutputEncoding encoding{.format = OutputFormat::jpeg,
                                  .jpeg_quality = 95,
                                  .subsampling = subsampling,
                                  .measures_file = true};
    compute_encoded(test_images({Depth::u8}), encoding,
                    [&](const Image& image, const compute::Task& task, std::size_t r) {
                      const Image pixels = pixels_of_file(task, r);
                      const double file_error = analysis::compare(image, pixels).squared_error;
                      double error = 0;
                      for (const compute::PlaneResult& plane : task.results[r])
                        error += plane.squared_error;
                      const double max_loss = kMaxLoss * std::sqrt(double(image.shape().samples()));
                      EXPECT_LT(std::abs(std::sqrt(file_error) - std::sqrt(error)), max_loss);
                      if (r >= task.encoded_outputs.size()) return;
                      EXPECT_EQ(task.encoded_outputs[r].squared_error, file_error);
                    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, EncodedOutputTest, ::testing::ValuesIn(test::all_configs()),
                         test::config_name);

}  // namespace
}  // namespace eckart
