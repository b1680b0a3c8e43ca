// Tests images that a GPU resizes, against the CPU: the bytes are identical.
#include "compute/cuda/image_resizer.hpp"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "preparation/resize.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr std::size_t kMaxBytes = std::size_t(256) << 20;

class ImageResizerTest : public KernelTest {
 protected:
  Image resize_on_cpu(const ImageShape& shape, int rows, int cols) {
    return preparation::resize(test::noise_image(shape), rows, cols, weights_);
  }

  preparation::WeightCache weights_;
};

/// Also in turn, so that an image meets the memory of others.
TEST_F(ImageResizerTest, makes_the_bytes_of_the_cpu_for_every_shape) {
  ResizeWorker worker(0);
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const int channels : {1, 3}) {
      for (const ImageShape& shape : {ImageShape{131, 77, channels, depth},
                                      {640, 480, channels, depth},
                                      {1, 1, channels, depth}}) {
        for (const auto& [rows, cols] :
             {std::pair(40, 41), {1, 1}, {300, 1001}, {shape.rows, 33}, {33, shape.cols}}) {
          const ResizePlan plan = plan_resize(shape, rows, cols, weights_);
          Image found(plan.shapes.back());
          worker.resize(test::noise_image(shape), plan, found);
          EXPECT_TRUE(test::same(found, resize_on_cpu(shape, rows, cols)))
              << shape.rows << " x " << shape.cols << " x " << channels << " to " << rows << " x "
              << cols;
        }
      }
    }
  }
}

/// An image larger than the pinned memory that it passes through.
TEST_F(ImageResizerTest, resizes_photographs) {
  const ImageShape shape{1501, 2003, 3, Depth::u8};
  ImageResizer resizer({0}, kMaxBytes);
  for (const auto& [rows, cols] : {std::pair(256, 256), {1999, 3001}}) {
    const std::optional<Image> found = resizer.try_resize(test::noise_image(shape), rows, cols);
    ASSERT_TRUE(found) << rows;
    EXPECT_TRUE(test::same(*found, resize_on_cpu(shape, rows, cols))) << rows;
  }
  EXPECT_TRUE(resizer.warnings().empty());
}

TEST_F(ImageResizerTest, leaves_an_image_that_is_too_large_to_the_cpu) {
  ImageResizer resizer({0}, std::size_t(4) << 20);
  EXPECT_FALSE(resizer.try_resize(test::noise_image({1501, 2003, 3, Depth::u8}), 256, 256));
  EXPECT_TRUE(resizer.try_resize(test::noise_image({1000, 1000, 3, Depth::u8}), 256, 256));
}

TEST_F(ImageResizerTest, serves_several_threads) {
  constexpr int kThreads = 8, kImages = 5;
  const ImageShape shape{800, 1200, 3, Depth::u8};
  const Image image = test::noise_image(shape), expected = resize_on_cpu(shape, 200, 300);
  ImageResizer resizer({0}, kMaxBytes);
  std::atomic<int> resized = 0, differing = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kImages; ++i) {
          const std::optional<Image> found = resizer.try_resize(image, 200, 300);
          resized += found.has_value();
          differing += found && !test::same(*found, expected);
        }
      });
    }
  }
  EXPECT_GE(resized, ImageResizer::kWorkersPerGpu);
  EXPECT_EQ(differing, 0);
  EXPECT_TRUE(resizer.warnings().empty());
}

}  // namespace
}  // namespace eckart::compute::cuda
