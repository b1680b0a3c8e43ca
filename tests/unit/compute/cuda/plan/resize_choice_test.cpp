#include "compute/cuda/plan/resize_choice.hpp"

#include <gtest/gtest.h>

namespace eckart::compute::cuda {
namespace {

TEST(ResizeChoice, prefers_the_gpu_for_photographs) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const int channels : {1, 3}) {
      EXPECT_TRUE(is_resized_faster_on_gpu({3000, 4000, channels, depth}, 256, 256));
      EXPECT_TRUE(is_resized_faster_on_gpu({3000, 4000, channels, depth}, 1536, 2048));
    }
    EXPECT_TRUE(is_resized_faster_on_gpu({1000, 1500, 3, depth}, 2000, 3000)) << "larger";
  }
}

TEST(ResizeChoice, prefers_the_cpu_for_small_images) {
  EXPECT_FALSE(is_resized_faster_on_gpu({208, 176, 1, Depth::u8}, 256, 256));
  EXPECT_FALSE(is_resized_faster_on_gpu({64, 64, 3, Depth::u16}, 32, 32));
}

TEST(ResizeChoice, prefers_the_cpu_if_no_side_changes) {
  EXPECT_FALSE(is_resized_faster_on_gpu({6000, 8000, 3, Depth::u8}, 6000, 8000));
}

TEST(ResizeChoice, prefers_the_cpu_for_floats) {
  EXPECT_FALSE(is_resized_faster_on_gpu({3000, 4000, 3, Depth::f32}, 256, 256));
  EXPECT_FALSE(is_resized_faster_on_gpu({3000, 4000, 3, Depth::f32}, 1536, 2048))
      << "though their many products would be worth the copies";
}

}  // namespace
}  // namespace eckart::compute::cuda
