// What is said of it.
#include <gmock/gmock.h>

#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FallbackRemarks : public FallbackTest {};

TEST_F(FallbackRemarks, says_nothing_where_all_had_memory) {
  compute(make_tasks(8));
  EXPECT_THAT(backend_->remarks(), IsEmpty());
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FallbackRemarks, sums_up_in_one_line) {
  gpu_.fit_start = 2;
  compute(make_tasks(8));
  EXPECT_THAT(backend_->remarks(),
              ElementsAre("out of GPU memory: batches of 64 x 32 were cut to 2 planes"));
  compute(make_tasks(4), kOther);
  for (int i = 0; i < 3; ++i) compute(make_tasks(1, 3), kOther);
  EXPECT_THAT(backend_->remarks(),
              ElementsAre("out of GPU memory: batches of 64 x 32 were cut to 2 planes, of 96 x 32 "
                          "to 2 planes; 3 images were computed on the CPU"));
}

TEST_F(FallbackRemarks, counts_images_alone_where_no_batch_was_cut) {
  gpu_.fit_start = 2;
  compute(make_tasks(1, 3));
  EXPECT_THAT(backend_->remarks(),
              ElementsAre("out of GPU memory: 1 image was computed on the CPU"));
}

TEST_F(FallbackRemarks, names_three_shapes_and_counts_the_others) {
  gpu_.fit_start = 1;
  for (int rows = 32; rows <= 32 * 5; rows += 32) compute(make_tasks(2), {{rows, 32}, {}});
  EXPECT_THAT(backend_->remarks(),
              ElementsAre("out of GPU memory: batches of 32 x 32 were cut to 1 plane, of 64 x 32 "
                          "to 1 plane, of 96 x 32 to 1 plane, of 2 other shapes likewise"));
}

TEST_F(FallbackRemarks, warns_once_a_shape_and_says_why) {
  gpu_.fit_start = 2;
  for (int i = 0; i < 2; ++i) {
    compute(make_tasks(8));
    compute(make_tasks(1, 3));
    compute(make_tasks(1, 3), kOther);
  }
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("8 planes of 64 x 32 (no room)"),
                                     HasSubstr("image of 64 x 32 (no room)"),
                                     HasSubstr("image of 96 x 32 (no room)")));
}

TEST_F(FallbackRemarks, warns_once_of_lanes) {
  gpu_.lane_fits = false;
  for (int i = 0; i < 2; ++i) lane_ = backend_->make_lane(i);
  compute(make_tasks(2));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("for a lane (no room for a lane)")));
}

}  // namespace
}  // namespace eckart
