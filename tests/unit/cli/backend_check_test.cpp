#include "cli/backend_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/make_backend.hpp"

namespace eckart::cli {
namespace {

/// A task whose output is 10 levels above its black input.
compute::Task make_task() {
  compute::Task task;
  task.input = Image({256, 256, 1, Depth::u8});
  std::fill_n(task.input.data(), task.input.bytes(), std::byte(0));
  task.outputs.emplace_back(task.input.shape());
  std::fill_n(task.outputs[0].data(), task.input.bytes(), std::byte(10));
  return task;
}

TEST(MaxDifference, counts_the_samples_that_differ_from_the_reference) {
  const compute::Task reference = make_task();
  compute::Task task = make_task();
  MaxDifference difference;
  difference.add(task, reference);
  EXPECT_EQ(difference.samples, 0);
  EXPECT_EQ(difference.levels, 0);
  EXPECT_EQ(difference.loss_db, 0);

  for (const std::size_t i : {0U, 777U, 65535U}) task.outputs[0].data()[i] = std::byte(11);
  difference.add(task, reference);
  difference.add(reference, reference);  // of another lane
  EXPECT_EQ(difference.samples, 3);
  EXPECT_EQ(difference.levels, 1);
  EXPECT_GT(difference.loss_db, 0);
  EXPECT_TRUE(difference.is_acceptable());

  task.outputs[0].data()[777] = std::byte(8);
  difference.add(task, reference);
  EXPECT_EQ(difference.levels, 2);
  EXPECT_FALSE(difference.is_acceptable());
}

/// Lanes of the CPU, as if they were on GPUs. Each of them has its own number.
class FakeGpus : public compute::Backend {
 public:
  FakeGpus(int gpus, int lanes)
      : lanes_(lanes), bus_ids_(std::size_t(gpus)), cpu_(app::make_cpu_backend({.lanes = 1})) {}
  std::string name() const override { return "fake"; }
  std::string description() const override { return "for tests"; }
  int lanes() const override { return lanes_; }
  std::vector<std::string> gpu_bus_ids() const override { return bus_ids_; }
  int batch_planes(const compute::BatchKey&) const override { return 1; }
  std::unique_ptr<compute::Lane> make_lane(int index) override {
    made.push_back(index);
    return cpu_->make_lane(0);
  }

  std::vector<int> made{};

 private:
  int lanes_;
  std::vector<std::string> bus_ids_;
  std::unique_ptr<compute::Backend> cpu_;
};

TEST(BackendCheck, uses_one_lane_of_each_gpu_when_it_is_quick) {
  using testing::ElementsAre;
  FakeGpus gpus(2, 5), cpu(0, 3), fewer_lanes(4, 2);
  const compute::Task reference = reconstruct_check_image(cpu);
  cpu.made.clear();
  const BackendCheck quick = check_backend(gpus, reference, LanesToCheck::one_per_device);
  EXPECT_THAT(gpus.made, ElementsAre(0, 1));
  EXPECT_EQ(quick.lanes, 5);
  EXPECT_EQ(quick.lanes_checked, 2);
  EXPECT_TRUE(quick.difference.is_acceptable());

  check_backend(cpu, reference, LanesToCheck::one_per_device);
  EXPECT_THAT(cpu.made, ElementsAre(0));
  check_backend(fewer_lanes, reference, LanesToCheck::one_per_device);
  EXPECT_THAT(fewer_lanes.made, ElementsAre(0, 1));

  gpus.made.clear();
  EXPECT_EQ(check_backend(gpus, reference, LanesToCheck::all).lanes_checked, 5);
  EXPECT_THAT(gpus.made, ElementsAre(0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace eckart::cli
