// Batches while another program occupies the GPU's memory, and afterwards. Uses the CUDA module,
// like the program.
#include <cuda_runtime.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/quality.hpp"
#include "synth/synth.hpp"
#include "tests/backend/backend_fixture.hpp"
#include "tests/backend/cuda/gpu_unavailable_message.hpp"

namespace eckart::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kSide = 1024;
constexpr std::size_t kMiB = std::size_t(1) << 20;

/// One rank for the float16 kernels, and one that needs float64.
class OutOfMemoryTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const std::string message = compute::cuda::gpu_unavailable_message(); !message.empty())
      GTEST_SKIP() << message;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      images_.push_back(synth::synthesize({.kind = synth::SynthKind::texture,
                                           .rows = kSide,
                                           .cols = kSide,
                                           .channels = 1,
                                           .seed = seed}));
    }
    // Expected results from a lane with enough memory. This also loads the device code.
    expected_ = make_tasks(int(images_.size()));
    const auto backend = make();
    compute(*backend->make_lane(0), expected_);
    ASSERT_THAT(backend->warnings(), IsEmpty());
  }

  static std::unique_ptr<compute::Backend> make() {
    return app::make_backend(settings::BackendChoice::cuda, {.lanes = 1, .devices = {0}}, 1)
        .backend;
  }

  /// Allocates device memory until only about `bytes` are free.
  void fill_memory_except(std::size_t bytes) {
    std::size_t free = 0, total = 0;
    for (std::size_t block = std::size_t(1) << 36; block >= kMiB; block /= 2) {
      for (;;) {
        ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
        void* memory = nullptr;
        if (free < bytes + block || cudaMalloc(&memory, block) != cudaSuccess) break;
        filler_.emplace_back(memory);
      }
      static_cast<void>(cudaGetLastError());
    }
  }
  void free_filler() { filler_.clear(); }

  static compute::BatchKey make_key() { return {{kSide, kSide}, {{GetParam()}}}; }

  std::vector<compute::Task> make_tasks(int count) const {
    std::vector<compute::Task> tasks;
    for (int i = 0; i < count; ++i)
      tasks.push_back(make_task(images_[std::size_t(i) % images_.size()], {GetParam()}));
    return tasks;
  }

  static void start(compute::Lane& lane, int slot, std::vector<compute::Task>& tasks) {
    std::vector<compute::Task*> batch;
    for (compute::Task& task : tasks) batch.push_back(&task);
    lane.start(slot, make_key(), batch);
  }
  static void compute(compute::Lane& lane, std::vector<compute::Task>& tasks) {
    start(lane, 0, tasks);
    lane.finish(0);
  }

  void expect_correct(const std::vector<compute::Task>& tasks) const {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      SCOPED_TRACE(i);
      const compute::Task& task = tasks[i];
      const compute::Task& expected = expected_[i % expected_.size()];
      ASSERT_EQ(task.error, "");
      const compute::PlaneResult& result = task.results[0][0];
      EXPECT_LE(result.loss_estimate_db, kMaxLossDb);
      EXPECT_NEAR(10 * std::log10(result.residual / expected.results[0][0].residual), 0,
                  kMaxLossDb);
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

  struct CudaDeleter {
    void operator()(void* memory) const { static_cast<void>(cudaFree(memory)); }
  };
  std::vector<std::unique_ptr<void, CudaDeleter>> filler_;
  std::vector<Image> images_;
  std::vector<compute::Task> expected_;
};

INSTANTIATE_TEST_SUITE_P(Rank, OutOfMemoryTest, ::testing::Values(20, 200),
                         ::testing::PrintToStringParamName());

/// 40 planes need about 280 MB of device memory; in float64 about 1 GB.
TEST_P(OutOfMemoryTest, splits_an_oversized_batch) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  const int full = backend->batch_planes(make_key());
  std::vector<compute::Task> large = make_tasks(40), later = make_tasks(40);
  fill_memory_except(160 * kMiB);
  compute(*lane, large);
  expect_correct(large);
  EXPECT_THAT(backend->warnings(),
              ElementsAre(HasSubstr("batches of 1024 x 1024 were limited to")));
  EXPECT_THAT(backend->warnings(), Not(ElementsAre(HasSubstr("CPU"))));
  EXPECT_LT(backend->batch_planes(make_key()), std::min(40, full));
  EXPECT_GT(backend->batch_planes(make_key()), 1);

  free_filler();
  compute(*lane, later);
  expect_correct(later);
}

TEST_P(OutOfMemoryTest, moves_an_oversized_image_to_the_cpu) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  std::vector<compute::Task> one = make_tasks(1), later = make_tasks(40);
  fill_memory_except(0);
  compute(*lane, one);
  expect_correct(one);
  const auto on_cpu = ElementsAre("not enough GPU memory: 1 image was computed on the CPU");
  EXPECT_THAT(backend->warnings(), on_cpu);

  free_filler();  // the same lane can then compute a full batch
  compute(*lane, later);
  expect_correct(later);
  EXPECT_THAT(backend->warnings(), on_cpu);
}

TEST_P(OutOfMemoryTest, does_not_affect_the_other_slot) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  std::vector<compute::Task> first = make_tasks(8), second = make_tasks(40), third = make_tasks(8);
  start(*lane, 0, first);
  fill_memory_except(0);
  start(*lane, 1, second);
  lane->finish(0);
  start(*lane, 0, third);
  lane->finish(1);
  lane->finish(0);
  for (const auto* tasks : {&first, &second, &third}) expect_correct(*tasks);
}

TEST_P(OutOfMemoryTest, moves_images_to_the_cpu_until_a_lane_can_be_created) {
  const auto backend = make();
  std::vector<compute::Task> cpu_tasks = make_tasks(1), gpu_tasks = make_tasks(8);
  fill_memory_except(0);
  const auto lane = backend->make_lane(0);
  compute(*lane, cpu_tasks);
  expect_correct(cpu_tasks);
  const auto on_cpu = ElementsAre("not enough GPU memory: 1 image was computed on the CPU");
  EXPECT_THAT(backend->warnings(), on_cpu);

  free_filler();
  compute(*lane, gpu_tasks);
  expect_correct(gpu_tasks);
  EXPECT_THAT(backend->warnings(), on_cpu);
}

}  // namespace
}  // namespace eckart::test
