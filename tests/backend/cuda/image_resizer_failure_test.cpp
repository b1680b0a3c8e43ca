// What the resizer does if memory runs out or a call fails. Uses fake/fake_cuda.hpp, so no GPU is
// needed, and pixels are not computed.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compute/cuda/image_resizer.hpp"
#include "tests/backend/cuda/fake/fake_cuda.hpp"

namespace eckart::compute::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kMiB = std::size_t(1) << 20;
constexpr std::size_t kMaxBytes = 256 * kMiB;

class ImageResizerFailureTest : public ::testing::Test {
 protected:
  void SetUp() override { FakeCuda::reset(); }
  void TearDown() override { FakeCuda::reset(); }

  /// Returns whether the GPU resized a photograph of 3 x side x side bytes.
  static bool resize(ImageResizer& resizer, int side = 2000) {
    Image image({side, side, 3, Depth::u8});
    std::fill_n(image.data(), image.bytes(), std::byte(0));
    const std::optional<Image> result = resizer.try_resize(image, 256, 300);
    if (result) {
      EXPECT_EQ(result->shape(), (ImageShape{256, 300, 3, Depth::u8}));
    }
    return result.has_value();
  }
  static long allocations() {
    const std::vector<std::string> calls = FakeCuda::take_calls();
    return std::ranges::count(calls, "cudaMalloc") + std::ranges::count(calls, "cudaHostAlloc");
  }
};

TEST_F(ImageResizerFailureTest, allocates_nothing_before_the_first_image) {
  const ImageResizer resizer({0, 1}, kMaxBytes);
  EXPECT_THAT(FakeCuda::take_calls(), IsEmpty());
}

TEST_F(ImageResizerFailureTest, allocates_nothing_for_later_images) {
  ImageResizer resizer({0}, kMaxBytes);
  for (int i = 0; i < ImageResizer::kWorkersPerGpu; ++i) EXPECT_TRUE(resize(resizer));
  EXPECT_GT(allocations(), 0);
  EXPECT_TRUE(resize(resizer));
  EXPECT_TRUE(resize(resizer, 1999));
  EXPECT_EQ(allocations(), 0);
}

TEST_F(ImageResizerFailureTest, uses_less_memory_after_memory_ran_out) {
  const std::size_t before = FakeCuda::used_memory();
  ImageResizer resizer({0}, kMaxBytes);
  FakeCuda::limit_memory(before + 10 * kMiB);
  EXPECT_FALSE(resize(resizer)) << "12 MB and results";
  EXPECT_EQ(FakeCuda::used_memory(), before);
  FakeCuda::take_calls();
  EXPECT_FALSE(resize(resizer));
  EXPECT_THAT(FakeCuda::take_calls(), IsEmpty()) << "it is not tried again";
  EXPECT_TRUE(resize(resizer, 1000));
  EXPECT_THAT(resizer.warnings(), IsEmpty());
}

TEST_F(ImageResizerFailureTest, leaves_all_images_to_the_cpu_after_an_error) {
  for (const std::string call :
       {"cudaSetDevice", "cudaStreamCreateWithFlags", "cudaHostAlloc", "cudaEventCreateWithFlags",
        "cudaMalloc", "cudaEventRecord", "cudaEventSynchronize"}) {
    SCOPED_TRACE(call);
    const std::size_t before = FakeCuda::used_memory();
    {
      ImageResizer resizer({0}, kMaxBytes);
      FakeCuda::fail_calls(call, cudaErrorLaunchFailure);
      EXPECT_FALSE(resize(resizer));
      FakeCuda::reset();
      EXPECT_FALSE(resize(resizer));
      EXPECT_THAT(FakeCuda::take_calls(), IsEmpty());
      EXPECT_THAT(resizer.warnings(), ElementsAre(HasSubstr(call)));
    }
    EXPECT_EQ(FakeCuda::used_memory(), before);
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
