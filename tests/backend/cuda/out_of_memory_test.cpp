// What becomes of batches when somebody else has the GPU's memory, and afterwards. Through the
// module, as the program loads it.
#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/quality.hpp"
#include "core/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/backend/cuda/no_gpu.hpp"

namespace eckart::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kSide = 1024;
constexpr std::size_t kMiB = std::size_t(1) << 20;

/// At a rank that the float16 kernels take, and at one that goes to float64.
class OutOfMemoryTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const std::string why = cuda::why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      images_.push_back(synthesize(
          {.kind = SynthKind::texture, .rows = kSide, .cols = kSide, .channels = 1, .seed = seed}));
    }
    // By a lane that has all the memory it wants; and the device's code is loaded then.
    expected_ = make_tasks(int(images_.size()));
    const auto backend = make();
    compute(*backend->make_lane(0), expected_);
    ASSERT_THAT(backend->remarks(), IsEmpty());
  }

  static std::unique_ptr<Backend> make() {
    return app::make_backend("cuda", {.lanes = 1, .devices = {0}}, 1).backend;
  }

  /// Takes the device's memory but for about so many bytes.
  void leave(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    for (std::size_t block = std::size_t(1) << 36; block >= kMiB; block /= 2) {
      for (;;) {
        ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
        void* memory = nullptr;
        if (free < bytes + block || cudaMalloc(&memory, block) != cudaSuccess) break;
        taken_.emplace_back(memory);
      }
      static_cast<void>(cudaGetLastError());
    }
  }
  void give_back() { taken_.clear(); }

  static BatchKind kind() { return {{kSide, kSide}, {{GetParam()}}}; }

  std::vector<Task> make_tasks(int count) const {
    std::vector<Task> tasks;
    for (int i = 0; i < count; ++i)
      tasks.push_back(make_task(images_[std::size_t(i) % images_.size()], {GetParam()}));
    return tasks;
  }

  static void start(Lane& lane, int slot, std::vector<Task>& tasks) {
    std::vector<Task*> batch;
    for (Task& task : tasks) batch.push_back(&task);
    lane.start(slot, kind(), batch);
  }
  static void compute(Lane& lane, std::vector<Task>& tasks) {
    start(lane, 0, tasks);
    lane.finish(0);
  }

  void expect_right(const std::vector<Task>& tasks) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      SCOPED_TRACE(i);
      const Task& task = tasks[i];
      const Task& expected = expected_[i % expected_.size()];
      ASSERT_EQ(task.error, "");
      const PlaneResult& result = task.results[0][0];
      EXPECT_LE(result.most_loss_db, kMostLossDb);
      EXPECT_NEAR(10 * std::log10(result.residual / expected.results[0][0].residual), 0,
                  kMostLossDb);
      double squared_error = 0;
      int largest_difference = 0;
      for (std::size_t at = 0; at < task.input.bytes(); ++at) {
        const int in = int(task.input.data()[at]), out = int(task.outputs[0].data()[at]);
        squared_error += double((in - out) * (in - out));
        largest_difference =
            std::max(largest_difference, std::abs(out - int(expected.outputs[0].data()[at])));
      }
      EXPECT_EQ(result.squared_error, squared_error);
      EXPECT_LE(largest_difference, 2);
    }
  }

  struct Free {
    void operator()(void* memory) const { static_cast<void>(cudaFree(memory)); }
  };
  std::vector<std::unique_ptr<void, Free>> taken_;
  std::vector<Image> images_;
  std::vector<Task> expected_;
};

INSTANTIATE_TEST_SUITE_P(Rank, OutOfMemoryTest, ::testing::Values(20, 200),
                         ::testing::PrintToStringParamName());

/// Forty planes want 280 MB or so of the device, and in float64 a gigabyte.
TEST_P(OutOfMemoryTest, a_batch_that_does_not_fit_is_computed_in_parts) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  const int full = backend->batch_planes(kind());
  std::vector<Task> large = make_tasks(40), later = make_tasks(40);
  leave(160 * kMiB);
  compute(*lane, large);
  expect_right(large);
  EXPECT_THAT(backend->remarks(), ElementsAre(HasSubstr("batches of 1024 x 1024 were cut to")));
  EXPECT_THAT(backend->remarks(), Not(ElementsAre(HasSubstr("CPU"))));
  EXPECT_LT(backend->batch_planes(kind()), std::min(40, full));
  EXPECT_GT(backend->batch_planes(kind()), 1);

  give_back();
  compute(*lane, later);
  expect_right(later);
}

TEST_P(OutOfMemoryTest, an_image_that_does_not_fit_is_computed_on_the_cpu) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  std::vector<Task> one = make_tasks(1), later = make_tasks(40);
  leave(0);
  compute(*lane, one);
  expect_right(one);
  const auto on_cpu = ElementsAre("out of GPU memory: 1 image was computed on the CPU");
  EXPECT_THAT(backend->remarks(), on_cpu);

  give_back();  // and the same lane takes a full batch
  compute(*lane, later);
  expect_right(later);
  EXPECT_THAT(backend->remarks(), on_cpu);
}

TEST_P(OutOfMemoryTest, the_other_slots_batch_is_not_harmed) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  std::vector<Task> first = make_tasks(8), second = make_tasks(40), third = make_tasks(8);
  start(*lane, 0, first);
  leave(0);
  start(*lane, 1, second);
  lane->finish(0);
  start(*lane, 0, third);
  lane->finish(1);
  lane->finish(0);
  for (const auto* tasks : {&first, &second, &third}) expect_right(*tasks);
}

TEST_P(OutOfMemoryTest, a_lane_that_cannot_be_made_leaves_its_images_to_the_cpu_until_it_can) {
  const auto backend = make();
  std::vector<Task> without = make_tasks(1), with = make_tasks(8);
  leave(0);
  const auto lane = backend->make_lane(0);
  compute(*lane, without);
  expect_right(without);
  const auto on_cpu = ElementsAre("out of GPU memory: 1 image was computed on the CPU");
  EXPECT_THAT(backend->remarks(), on_cpu);

  give_back();
  compute(*lane, with);
  expect_right(with);
  EXPECT_THAT(backend->remarks(), on_cpu);
}

}  // namespace
}  // namespace eckart::testing
