#include "compute/cuda/plan/batch_capacity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <vector>

#include "compute/cuda/layout/packing.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr double kGiB = 1 << 30;

TEST(CudaBatchCapacity, respects_eigensolver_and_grid_limits) {
  for (const int cols : {1, 8, 32, 96, 512, 1024, 4096, 16384, 26754, 40000}) {
    for (const int requested : {0, 1, 3, 700, 65535, 65536, 1000000}) {
      const std::int64_t planes = target_batch_planes({cols, cols}, requested);
      EXPECT_LE(planes, 65535) << cols;
      EXPECT_LE(planes * cols * cols, std::int64_t(INT32_MAX)) << cols;
      if (requested > 0) {
        EXPECT_LE(planes, requested);
      }
    }
  }
  EXPECT_EQ(target_batch_planes({1, 1}, 1000000), 65535);
  EXPECT_EQ(target_batch_planes({32, 32}, 700), 700);
}

TEST(CudaBatchCapacity, balances_work_across_shapes_by_default) {
  EXPECT_EQ(target_batch_planes({64, 64}, 0), 512);
  EXPECT_EQ(target_batch_planes({512, 512}, 0), 256);
  EXPECT_EQ(target_batch_planes({9000, 512}, 0), 256) << "rows do not matter";
  EXPECT_EQ(target_batch_planes({1024, 1024}, 0), 64);
  EXPECT_EQ(target_batch_planes({8192, 8192}, 0), 4) << "never fewer than the minimum";
}

TEST(CudaBatchCapacity, allows_three_channels_in_the_eigensolver) {
  const auto elements = [](std::int64_t columns) { return kMaxImagePlanes * columns * columns; };
  EXPECT_LE(elements(kMaxGramColumns), std::int64_t(INT32_MAX));
  EXPECT_GT(elements(kMaxGramColumns + 1), std::int64_t(INT32_MAX));
}

TEST(CudaBatchCapacity, is_limited_by_memory) {
  EXPECT_EQ(limit_planes_to_memory(100, 1000, 10), 100);
  EXPECT_EQ(limit_planes_to_memory(100, 999, 10), 99);
  EXPECT_EQ(limit_planes_to_memory(100, 5, 10), 1) << "at least one plane is tried";
  EXPECT_EQ(limit_planes_to_memory(0, 1000, 10), 1);
}

TEST(CudaBatchCapacity, allows_four_lanes_a_device_with_two_gib_each_and_six_with_ten) {
  EXPECT_EQ(lane_count(0.5 * kGiB, 1, 0), 1);
  EXPECT_EQ(lane_count(5.9 * kGiB, 1, 0), 2);
  EXPECT_EQ(lane_count(40 * kGiB, 1, 0), 4);
  EXPECT_EQ(lane_count(55 * kGiB, 1, 0), 5);
  EXPECT_EQ(lane_count(100 * kGiB, 1, 0), 6);
  EXPECT_EQ(lane_count(100 * kGiB, 3, 0), 18);
  EXPECT_EQ(lane_count(0.5 * kGiB, 2, 7), 7);
}

TEST(CudaBatchCapacity, divides_the_memory_of_a_device_among_its_lanes) {
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 1, 4), 3);
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 2, 4), 6);
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 2, 5), 4) << "one device has three lanes";
  EXPECT_DOUBLE_EQ(bytes_per_lane(12, 4, 1), 12);
}

/// The bytes of workspace and slots per plane, without the workspace of cuSOLVER.
double allocated_bytes(const BatchWorkload& batch, int outputs) {
  constexpr int kCount = 16;
  const Problem problem{batch.shape.rows, batch.shape.cols, kCount, {batch.rank}, batch.columns, 2};
  WorkspaceAllocator allocator(nullptr);
  if (batch.is_float64) {
    Float64SubspaceBuffers::allocate(allocator, problem);
  } else {
    SubspaceBuffers<std::uint16_t>::allocate(allocator, SubspaceSizes(problem));
  }
  const double slots = 2.0 * batch.shape.rows * batch.shape.cols * (1 + outputs);  // in bytes
  return double(allocator.used_bytes()) / kCount + slots;
}

TEST(CudaBatchCapacity, estimates_plane_bytes) {
  for (const int side : {256, 512, 1024, 4096}) {
    for (const int rows : {side, 3 * side}) {
      for (const int outputs : {1, 3}) {
        for (const bool is_float64 : {false, true}) {
          const int rank = is_float64 ? 200 : 20, columns = is_float64 ? 250 : 48;
          const BatchWorkload batch{{rows, side}, rank, columns, 16, is_float64};
          const double bytes = plane_bytes(batch, SolverKind::subspace, std::size_t(outputs));
          EXPECT_GT(bytes, allocated_bytes(batch, outputs)) << rows << " x " << side;
          EXPECT_LT(bytes, 3.5 * allocated_bytes(batch, outputs)) << rows << " x " << side;
        }
      }
    }
  }
}

TEST(CudaBatchCapacity, includes_two_matrices_and_six_squares_for_gram) {
  const BatchWorkload batch{{1000, 500}, 20, 48, 16, false};
  const double slots = 2 * 2 * 1000 * 500;
  EXPECT_DOUBLE_EQ(plane_bytes(batch, SolverKind::gram, 1),
                   8 * (2 * 1000.0 * 500 + 6 * 500.0 * 500) + 2 * slots);
  EXPECT_DOUBLE_EQ(
      plane_bytes(batch, SolverKind::gram, 3) - plane_bytes(batch, SolverKind::gram, 1), 2 * slots);
}

TEST(CudaBatchCapacity, includes_the_triplets_of_two_slots) {
  const BatchWorkload batch{{1000, 500}, 20, 48, 16, false};
  EXPECT_DOUBLE_EQ(
      plane_bytes(batch, SolverKind::gram, 1, false, 20) - plane_bytes(batch, SolverKind::gram, 1),
      2 * 20 * (4 * (1000.0 + 500) + 8));
}

TEST(CudaBatchCapacity, holds_at_least_one_image) {
  EXPECT_EQ(BatchCapacity::for_full_batch(256).full, 256);
  EXPECT_EQ(BatchCapacity::for_full_batch(256).recompute, 32);
  EXPECT_EQ(BatchCapacity::for_full_batch(256).current, 0);
  EXPECT_EQ(BatchCapacity::for_full_batch(1).full, 3);
  EXPECT_EQ(BatchCapacity::for_full_batch(1).recompute, 3);
}

TEST(CudaBatchCapacity, reserves_a_small_batch_for_a_single_image) {
  BatchCapacity capacity = BatchCapacity::for_full_batch(256);
  capacity.grow_for(3, false);
  EXPECT_EQ(capacity.current, 8);
  capacity.grow_for(8, false);
  EXPECT_EQ(capacity.current, 8);
  capacity.grow_for(9, false);
  EXPECT_EQ(capacity.current, 256);
  capacity.grow_for(3, false);
  EXPECT_EQ(capacity.current, 256) << "capacity never shrinks on its own";
  capacity.grow_for(300, false);
  EXPECT_EQ(capacity.current, 300) << "an image may have more planes than a batch";
}

TEST(CudaBatchCapacity, reserves_a_full_batch_for_a_deterministic_lane) {
  BatchCapacity capacity = BatchCapacity::for_full_batch(256);
  capacity.grow_for(1, true);
  EXPECT_EQ(capacity.current, 256);
}

/// If memory is limited to `max_planes` planes, every batch succeeds or fails after a few attempts.
TEST(CudaBatchCapacity, shrinks_to_available_memory) {
  for (const int full : {3, 4, 31, 256, 512}) {
    for (int max_planes = 0; max_planes <= full; max_planes += std::max(1, full / 16)) {
      for (int planes = 1; planes <= full; planes += std::max(1, full / 8)) {
        BatchCapacity capacity = BatchCapacity::for_full_batch(full);
        capacity.grow_for(planes, false);
        int tries = 0;
        bool failed = false;
        while (capacity.current > max_planes && !failed) {
          ASSERT_GE(capacity.current, planes);
          const int before = capacity.current;
          failed = !capacity.shrink(planes);
          ASSERT_TRUE(failed || capacity.current < before);
          ASSERT_LE(++tries, 12);
        }
        ASSERT_EQ(failed, planes > max_planes) << full << ", " << max_planes << ", " << planes;
        ASSERT_TRUE(tries == 0 || capacity.recompute <= capacity.current);
        ASSERT_EQ(failed, capacity.current < planes || planes > max_planes);
        ASSERT_TRUE(tries == 0 || capacity.full == capacity.current)
            << "later batches keep the reduced capacity";
      }
    }
  }
}

TEST(CudaBatchCapacity, halves_to_one_plane_for_recompute) {
  BatchCapacity capacity = BatchCapacity::for_full_batch(256);
  for (const int expected : {16, 8, 4, 2, 1}) {
    EXPECT_TRUE(capacity.shrink_recompute());
    EXPECT_EQ(capacity.recompute, expected);
  }
  EXPECT_FALSE(capacity.shrink_recompute()) << "one plane is the minimum";
  EXPECT_EQ(capacity.recompute, 1);
  EXPECT_EQ(capacity.full, 256) << "the capacity of whole batches is unchanged";
}

/// Then all memory of a slot that is in flight suffices for it.
TEST(CudaBatchCapacity, gives_a_block_no_more_than_a_batch_in_flight_may_have) {
  BatchCapacity capacity = BatchCapacity::for_full_batch(512);
  capacity.grow_for(512, true);
  EXPECT_EQ(capacity.block(), 256);
  capacity.shrink(100);
  capacity.shrink(100);
  const int packed = capacity.current;
  capacity.grow_for(300, true);
  EXPECT_GT(capacity.current, packed);
  EXPECT_LE(capacity.block(), packed);
}

TEST(CudaBatchCapacity, gives_a_block_one_plane_at_last) {
  BatchCapacity capacity = BatchCapacity::for_full_batch(512);
  capacity.grow_for(512, false);
  while (capacity.shrink_recompute()) continue;
  EXPECT_EQ(capacity.block(), 1);
}

}  // namespace
}  // namespace eckart::compute::cuda
