// Outputs as IDAT chunks instead of pixels, see Task::takes_png_chunks.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "codec/codec.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"

namespace eckart {
namespace {

using test::BackendTest;

/// The pixels of an output, whichever way the backend gives them.
Image pixels_of(const compute::Task& task, std::size_t output) {
  const codec::Codec& png = codec::codec_for(ImageFormat::png);
  PictureView picture(task.outputs[output]);
  if (output < task.png_chunks.size()) picture.png_chunks = task.png_chunks[output];
  return png.decode(png.encode(picture, {}), {}).pixels;
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

/// Sizes, sample types and contents of one batch key and of others; noise needs another solver.
std::vector<Image> test_images() {
  std::vector<Image> images;
  for (const int channels : {1, 3}) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
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

TEST_P(BackendTest, gives_the_pixels_that_it_has_measured_as_png_chunks) {
  const std::vector<Image> images = test_images();
  std::vector<compute::Task> tasks;
  std::map<compute::BatchKey, std::vector<compute::Task*>> batches;
  for (const Image& image : images) {
    tasks.push_back(test::make_task(image, {1, 5}));
    tasks.back().takes_png_chunks = true;
  }
  for (compute::Task& task : tasks) batches[compute::batch_key(task, 32)].push_back(&task);
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  for (int round = 0; round < 2; ++round) {  // with memory that a batch has used
    for (const auto& [key, batch] : batches) {
      lane->start(0, key, batch);
      lane->finish(0);
    }
    std::size_t with_chunks = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const compute::Task& task = tasks[i];
      ASSERT_EQ(task.error, "");
      with_chunks += task.png_chunks.empty() ? 0 : 1;
      for (std::size_t r = 0; r < task.ranks.size(); ++r) {
        const Image pixels = pixels_of(task, r);
        for (int c = 0; c < pixels.shape().channels; ++c)
          EXPECT_EQ(squared_error(pixels, images[i], c),
                    task.results[r][std::size_t(c)].squared_error)
              << i << ' ' << r;
      }
    }
    const bool is_cuda = GetParam().backend == settings::BackendChoice::cuda;
    EXPECT_GE(with_chunks, is_cuda ? tasks.size() / 2 : 0);
  }
}

}  // namespace
}  // namespace eckart
