#include "compute/cuda/layout/batch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"

namespace eckart::cuda {
namespace {

constexpr double kGiB = 1 << 30;

TEST(CudaBatchPlan, no_batch_has_more_planes_than_the_eigensolver_and_a_grid_take) {
  for (const int cols : {1, 8, 32, 96, 512, 1024, 4096, 16384, 26754, 40000}) {
    for (const int asked : {0, 1, 3, 700, 65535, 65536, 1000000}) {
      const std::int64_t planes = planes_wanted({cols, cols}, asked);
      EXPECT_LE(planes, 65535) << cols;
      EXPECT_LE(planes * cols * cols, std::int64_t(INT32_MAX)) << cols;
      if (asked > 0) {
        EXPECT_LE(planes, asked);
      }
    }
  }
  EXPECT_EQ(planes_wanted({1, 1}, 1000000), 65535);
  EXPECT_EQ(planes_wanted({32, 32}, 700), 700);
}

TEST(CudaBatchPlan, a_batch_without_a_wish_has_about_the_same_work_for_every_shape) {
  EXPECT_EQ(planes_wanted({64, 64}, 0), 512);
  EXPECT_EQ(planes_wanted({512, 512}, 0), 256);
  EXPECT_EQ(planes_wanted({9000, 512}, 0), 256) << "rows do not matter";
  EXPECT_EQ(planes_wanted({1024, 1024}, 0), 64);
  EXPECT_EQ(planes_wanted({8192, 8192}, 0), 4) << "but never less than so many";
}

TEST(CudaBatchPlan, an_image_of_three_channels_fits_the_eigensolver) {
  const auto elements = [](std::int64_t columns) { return kMostChannels * columns * columns; };
  EXPECT_LE(elements(kMostGramColumns), std::int64_t(INT32_MAX));
  EXPECT_GT(elements(kMostGramColumns + 1), std::int64_t(INT32_MAX));
}

TEST(CudaBatchPlan, planes_are_as_many_as_memory_holds) {
  EXPECT_EQ(planes_that_fit(100, 1000, 10), 100);
  EXPECT_EQ(planes_that_fit(100, 999, 10), 99);
  EXPECT_EQ(planes_that_fit(100, 5, 10), 1) << "one is tried whatever there is";
  EXPECT_EQ(planes_that_fit(0, 1000, 10), 1);
}

TEST(CudaBatchPlan, lanes_are_up_to_four_a_device_with_two_gib_each) {
  EXPECT_EQ(lanes_for(0.5 * kGiB, 1, 0), 1);
  EXPECT_EQ(lanes_for(5.9 * kGiB, 1, 0), 2);
  EXPECT_EQ(lanes_for(100 * kGiB, 1, 0), 4);
  EXPECT_EQ(lanes_for(100 * kGiB, 3, 0), 12);
  EXPECT_EQ(lanes_for(0.5 * kGiB, 2, 7), 7);
}

TEST(CudaBatchPlan, lanes_share_the_memory_of_their_device) {
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 1, 4), 3);
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 2, 4), 6);
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 2, 5), 4) << "one device has three of them";
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 4, 1), 12);
}

/// What the solver's workspace and the slots take, without what cuSOLVER asks for.
double real_bytes(const BatchSize& batch, int outputs) {
  constexpr int kCount = 16;
  const Problem problem{batch.shape.rows, batch.shape.cols, kCount, {batch.rank}, batch.columns, 2};
  Carver carver(nullptr);
  if (batch.float64) {
    Float64SubspaceParts::carve(carver, problem);
  } else {
    SubspaceParts<std::uint16_t>::carve(carver, SubspaceSizes(problem));
  }
  const double slots = 2.0 * batch.shape.rows * batch.shape.cols * (1 + outputs);  // of bytes
  return double(carver.used()) / kCount + slots;
}

TEST(CudaBatchPlan, knows_about_what_a_plane_takes) {
  for (const int side : {256, 512, 1024, 4096}) {
    for (const int rows : {side, 3 * side}) {
      for (const int outputs : {1, 3}) {
        for (const bool float64 : {false, true}) {
          const int rank = float64 ? 200 : 20, columns = float64 ? 250 : 48;
          const BatchSize batch{{rows, side}, rank, columns, 16, float64};
          const double bytes = plane_bytes(batch, SolverKind::subspace, std::size_t(outputs));
          EXPECT_GT(bytes, real_bytes(batch, outputs)) << rows << " x " << side;
          EXPECT_LT(bytes, 3.5 * real_bytes(batch, outputs)) << rows << " x " << side;
        }
      }
    }
  }
}

TEST(CudaBatchPlan, gram_takes_two_matrices_and_six_of_its_square) {
  const BatchSize batch{{1000, 500}, 20, 48, 16, false};
  const double slots = 2 * 2 * 1000 * 500;
  EXPECT_DOUBLE_EQ(plane_bytes(batch, SolverKind::gram, 1),
                   8 * (2 * 1000.0 * 500 + 6 * 500.0 * 500) + 2 * slots);
  EXPECT_DOUBLE_EQ(
      plane_bytes(batch, SolverKind::gram, 3) - plane_bytes(batch, SolverKind::gram, 1), 2 * slots);
}

TEST(CudaPlaces, are_an_image_at_least) {
  EXPECT_EQ(Places::of(256).full, 256);
  EXPECT_EQ(Places::of(256).retry, 32);
  EXPECT_EQ(Places::of(256).now, 0);
  EXPECT_EQ(Places::of(1).full, 3);
  EXPECT_EQ(Places::of(1).retry, 3);
}

TEST(CudaPlaces, an_image_that_comes_alone_takes_memory_for_a_small_batch) {
  Places places = Places::of(256);
  places.make(3, false);
  EXPECT_EQ(places.now, 8);
  places.make(8, false);
  EXPECT_EQ(places.now, 8);
  places.make(9, false);
  EXPECT_EQ(places.now, 256);
  places.make(3, false);
  EXPECT_EQ(places.now, 256) << "it never gives memory back";
  places.make(300, false);
  EXPECT_EQ(places.now, 300) << "an image may have more planes than a batch";
}

TEST(CudaPlaces, of_a_deterministic_lane_are_those_of_a_full_batch_at_once) {
  Places places = Places::of(256);
  places.make(1, true);
  EXPECT_EQ(places.now, 256);
}

/// Without memory for more than `most` planes, every batch gets through or fails after few tries.
TEST(CudaPlaces, shrink_to_what_there_is_memory_for) {
  for (const int full : {3, 4, 31, 256, 512}) {
    for (int most = 0; most <= full; most += std::max(1, full / 16)) {
      for (int planes = 1; planes <= full; planes += std::max(1, full / 8)) {
        Places places = Places::of(full);
        places.make(planes, false);
        int tries = 0;
        bool failed = false;
        while (places.now > most && !failed) {
          ASSERT_GE(places.now, planes);
          const int before = places.now;
          failed = !places.shrink(planes);
          ASSERT_TRUE(failed || places.now < before);
          ASSERT_LE(++tries, 12);
        }
        ASSERT_EQ(failed, planes > most) << full << ", " << most << ", " << planes;
        ASSERT_TRUE(tries == 0 || places.retry <= places.now);
        ASSERT_EQ(failed, places.now < planes || planes > most);
        ASSERT_TRUE(tries == 0 || places.full == places.now) << "later batches stay with that";
      }
    }
  }
}

}  // namespace
}  // namespace eckart::cuda
