// Batches of images through all lanes of a backend.
#include "bench/experiments/backend_batch.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "core/quality.hpp"
#include "tests/unit/bench/fake_backend.hpp"

namespace eckart::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr ImageBatch kBatch{.images = 9, .n = 64, .k = 4};

TEST(BackendBatch, decomposes_all_images_on_all_lanes) {
  const auto cpu = compute::cpu::make_cpu_backend({.lanes = 3});
  BackendBatch batch(*cpu, kBatch);
  const BatchTimes times = batch.run();
  EXPECT_GT(times.total_s, 0);
  EXPECT_EQ(times.compute_s, times.total_s);
  const auto gesvd = compute::cpu::make_cpu_backend({.solver = SolverKind::gesvd, .lanes = 1});
  const std::vector<double> optimal = scene_errors(*gesvd, kBatch);
  EXPECT_THAT(optimal, SizeIs(kScenes));
  EXPECT_GT(optimal.front(), 0);
  EXPECT_THAT(batch.squared_errors(), SizeIs(9));
  EXPECT_LE(largest_loss_db(batch.squared_errors(), optimal), kMaxLossDb);
}

TEST(BackendBatch, fills_the_slots_with_batches_of_the_size_that_the_backend_asks_for) {
  FakeBackend fake({}, {.planes = 4});
  BackendBatch batch(fake, kBatch);
  for (int run = 0; run < 2; ++run)
    EXPECT_DOUBLE_EQ(batch.run().compute_s, 3e-6) << "three batches of 1 us each";
}

/// Otherwise a slot that is used for the first time later would be slow then.
TEST(BackendBatch, uses_all_slots_before_the_second_call) {
  std::array<int, 2> starts{};
  FakeBackend fake({}, {.planes = 4, .starts = &starts});
  BackendBatch batch(fake, {.images = 4, .n = 64, .k = 4});
  batch.run();
  EXPECT_THAT(starts, ElementsAre(1, 0));
  EXPECT_DOUBLE_EQ(batch.run().compute_s, 1e-6) << "that of the batch alone";
  EXPECT_THAT(starts, ElementsAre(3, 1));
  batch.run();
  EXPECT_THAT(starts, ElementsAre(4, 1));
}

TEST(BackendBatch, throws_what_a_lane_throws) {
  FakeBackend fake({}, {.is_too_small = true});
  BackendBatch batch(fake, kBatch);
  EXPECT_THROW(batch.run(), compute::OutOfMemory);
}

TEST(BackendBatch, throws_if_an_image_fails) {
  FakeBackend fake({}, {.error = "not converged"});
  BackendBatch batch(fake, kBatch);
  EXPECT_THROW(batch.run(), std::runtime_error);
}

}  // namespace
}  // namespace eckart::bench
