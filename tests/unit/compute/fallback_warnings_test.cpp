// The warnings and the summary of the fallback.
#include <gmock/gmock.h>

#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart::compute {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FallbackWarningTest : public FallbackTest {};

TEST_F(FallbackWarningTest, is_empty_if_memory_sufficed) {
  compute(make_tasks(8));
  EXPECT_THAT(backend_->warnings(), IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FallbackWarningTest, is_one_summary_line) {
  gpu_.start_capacity = 2;
  compute(make_tasks(8));
  EXPECT_THAT(backend_->warnings(),
              ElementsAre("not enough GPU memory: batches of 64 x 32 were limited to 2 planes"));
  compute(make_tasks(4), kOtherKey);
  for (int i = 0; i < 3; ++i) compute(make_tasks(1, 3), kOtherKey);
  EXPECT_THAT(
      backend_->warnings(),
      ElementsAre("not enough GPU memory: batches of 64 x 32 were limited to 2 planes, of 96 x 32 "
                  "to 2 planes; 3 images were computed on the CPU"));
}

TEST_F(FallbackWarningTest, counts_only_images_if_no_batch_was_split) {
  gpu_.start_capacity = 2;
  compute(make_tasks(1, 3));
  EXPECT_THAT(backend_->warnings(),
              ElementsAre("not enough GPU memory: 1 image was computed on the CPU"));
}

TEST_F(FallbackWarningTest, lists_three_shapes_and_counts_the_others) {
  gpu_.start_capacity = 1;
  for (int rows = 32; rows <= 32 * 5; rows += 32) compute(make_tasks(2), {{rows, 32}, {}});
  EXPECT_THAT(
      backend_->warnings(),
      ElementsAre("not enough GPU memory: batches of 32 x 32 were limited to 1 plane, of 64 x 32 "
                  "to 1 plane, of 96 x 32 to 1 plane, of 2 other shapes also limited"));
}

TEST_F(FallbackWarningTest, is_given_once_per_shape_with_the_cause) {
  gpu_.start_capacity = 2;
  for (int i = 0; i < 2; ++i) {
    compute(make_tasks(8));
    compute(make_tasks(1, 3));
    compute(make_tasks(1, 3), kOtherKey);
  }
  const std::string batch = "not enough GPU memory for a batch of ";
  EXPECT_THAT(
      warnings_,
      ElementsAre(batch + "8 planes of 64 x 32 (cudaMalloc failed); batches of this shape are "
                          "split from now on",
                  batch + "one image of 64 x 32 (cudaMalloc failed); it is computed on the CPU",
                  batch + "one image of 96 x 32 (cudaMalloc failed); it is computed on the "
                          "CPU"));
}

TEST_F(FallbackWarningTest, is_given_once_for_lanes) {
  gpu_.has_lane_memory = false;
  for (int i = 0; i < 2; ++i) lane_ = backend_->make_lane(i);
  compute(make_tasks(2));
  EXPECT_THAT(warnings_,
              ElementsAre("not enough GPU memory for a lane (cudaMalloc failed for a lane); its "
                          "images are computed on the CPU until memory is free"));
}

}  // namespace
}  // namespace eckart::compute
