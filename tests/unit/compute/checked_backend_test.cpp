#include "compute/checked/checked_backend.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eckart::compute {
namespace {

/// Sets every sample to the same value and reports a fixed residual, increased by a rank of chroma,
/// or fails every task.
class FlatBackend : public Backend {
 public:
  FlatBackend(int value, double residual, bool fails = false)
      : value_(value), residual_(residual), fails_(fails) {}

  std::string name() const override { return "flat" + std::to_string(value_); }
  std::string description() const override { return "all " + std::to_string(value_); }
  int lanes() const override { return 1; }
  int batch_planes(const BatchKey&) const override { return 4; }
  std::unique_ptr<Lane> make_lane(int) override { return std::make_unique<FlatLane>(*this); }
  std::string device_name() const override { return "device " + std::to_string(value_); }
  std::vector<SolverChoice> solver_choices() const override {
    return {{{{2, 5}, 1, 1, value_}, SolverKind::gram, "it is flat"}};
  }

 private:
  struct FlatLane : Lane {
    explicit FlatLane(const FlatBackend& owner) : backend(owner) {}
    int slots() const override { return 1; }
    void set_stop_token(const std::stop_token& stop_token) override { stop = stop_token; }
    void start(int, const BatchKey&, std::span<Task* const> tasks) override {
      for (Task* task : tasks) {
        if (backend.fails_) task->error = "failed";
        task->is_canceled = stop.stop_requested();
        for (Image& output : task->outputs)
          std::memset(output.data(), backend.value_, output.bytes());
        for (auto& planes : task->results) {
          for (PlaneResult& plane : planes)
            plane.residual = backend.residual_ + (task->chroma_rank ? task->chroma_rank->value : 0);
        }
      }
    }
    void finish(int) override {}
    const FlatBackend& backend;
    std::stop_token stop;
  };

  const int value_;
  const double residual_;
  const bool fails_;
};

std::vector<std::string> check(std::unique_ptr<Backend> tested, std::unique_ptr<Backend> reference,
                               Task& task) {
  const auto checked = make_checked_backend(std::move(tested), std::move(reference));
  task.input = Image({2, 5, 1, Depth::u8});
  std::memset(task.input.data(), 0, task.input.bytes());
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  Task* const tasks[] = {&task};
  const auto lane = checked->make_lane(0);
  lane->start(0, batch_key(task, 1), tasks);
  lane->finish(0);
  return checked->warnings();
}

TEST(CheckedBackend, reports_no_differences) {
  Task task;
  const auto warnings =
      check(std::make_unique<FlatBackend>(7, 10), std::make_unique<FlatBackend>(7, 10), task);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("0 of 10 samples differ, at most by 0"), std::string::npos)
      << warnings[0];
}

TEST(CheckedBackend, gives_both_backends_the_rank_of_chroma) {
  Task task;
  task.chroma_rank = RankPolicy(5);
  const auto warnings =
      check(std::make_unique<FlatBackend>(7, 10), std::make_unique<FlatBackend>(7, 10), task);
  EXPECT_NE(warnings[0].find("by at most 0 dB"), std::string::npos) << warnings[0];
}

TEST(CheckedBackend, reports_differences_and_returns_the_tested_results) {
  Task task;
  const auto warnings =
      check(std::make_unique<FlatBackend>(7, 10), std::make_unique<FlatBackend>(4, 100), task);
  EXPECT_NE(warnings[0].find("10 of 10 samples differ, at most by 3"), std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("by at most 10 dB"), std::string::npos) << warnings[0];
  EXPECT_EQ(int(task.outputs[0].data()[0]), 7);
}

TEST(CheckedBackend, forwards_the_solver_choices_of_the_tested_backend) {
  const auto checked = make_checked_backend(std::make_unique<FlatBackend>(7, 10),
                                            std::make_unique<FlatBackend>(4, 10));
  EXPECT_EQ(checked->device_name(), "device 7");
  ASSERT_EQ(checked->solver_choices().size(), 1U);
  EXPECT_EQ(checked->solver_choices()[0].batch.planes, 7);
}

TEST(CheckedBackend, reports_one_sided_failures) {
  Task task;
  const auto warnings =
      check(std::make_unique<FlatBackend>(7, 10, true), std::make_unique<FlatBackend>(7, 10), task);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[1].find("1 image failed on only one of the two backends"), std::string::npos)
      << warnings[1];
}

TEST(CheckedBackend, stops_both_lanes_and_compares_no_canceled_task) {
  const auto checked = make_checked_backend(std::make_unique<FlatBackend>(1, 1),
                                            std::make_unique<FlatBackend>(9, 5));
  Task task;
  task.input = Image({2, 5, 1, Depth::u8});
  task.outputs.emplace_back(task.input.shape());
  task.results.emplace_back(1);
  Task* const tasks[] = {&task};
  const auto lane = checked->make_lane(0);
  std::stop_source stop;
  stop.request_stop();
  lane->set_stop_token(stop.get_token());
  lane->start(0, batch_key(task, 1), tasks);
  lane->finish(0);
  EXPECT_TRUE(task.is_canceled);
  EXPECT_EQ(checked->warnings().at(0).find("compared flat1 with flat9: 0 of 0 samples differ"), 0u);
}

/// Keeps what the lane gets, and gives fixed answers.
class RecordingBackend : public Backend {
 public:
  explicit RecordingBackend(std::string name, int lanes = 1)
      : name_(std::move(name)), lanes_(lanes) {}
  std::string name() const override { return name_; }
  std::string description() const override { return "of " + name_; }
  std::vector<std::string> details() const override { return {"details of " + name_}; }
  std::vector<std::string> gpu_bus_ids() const override { return {"GPU of " + name_}; }
  std::vector<std::string> warnings() const override { return {"warning of " + name_}; }
  FallbackCounts fallback_counts() const override { return {.oom_splits = lanes_}; }
  int lanes() const override { return lanes_; }
  int batch_planes(const BatchKey& key) const override { return lanes_ * key.shape.cols; }
  std::unique_ptr<Lane> make_lane(int index) override {
    made.push_back(index);
    return std::make_unique<RecordingLane>(*this);
  }
  std::unique_ptr<Lane> make_gpu_lane(int gpu) override {
    made.push_back(100 + gpu);
    return std::make_unique<RecordingLane>(*this);
  }

  std::vector<int> made;
  std::vector<BatchKey> keys;
  std::function<void(Task&)> on_start = [](Task&) {};

 private:
  struct RecordingLane : Lane {
    explicit RecordingLane(RecordingBackend& owner) : backend(owner) {}
    int slots() const override { return backend.lanes_; }
    void start(int, const BatchKey& key, std::span<Task* const> tasks) override {
      backend.keys.push_back(key);
      for (Task* task : tasks) backend.on_start(*task);
    }
    void finish(int) override {}
    std::vector<DeviceSpan> take_spans() override { return std::vector<DeviceSpan>(1); }
    RecordingBackend& backend;
  };

  const std::string name_;
  const int lanes_;
};

TEST(CheckedBackend, gives_the_reference_a_copy_of_all_that_a_task_asks_for) {
  auto tested = std::make_unique<RecordingBackend>("tested", 2);
  auto reference = std::make_unique<RecordingBackend>("reference");
  RecordingBackend &first = *tested, &second = *reference;
  Task task;
  task.input = Image({2, 3, 1, Depth::u16});
  std::memset(task.input.data(), 7, task.input.bytes());
  task.ranks = {{1}, {2}};
  task.chroma_rank = RankPolicy(4);
  task.peak = 4095;
  task.rounding_step = 0.25;
  task.wants_spectrum = true;
  task.min_factor_rank = 2;
  task.known_factors = {Factors{.rows = 2, .cols = 3, .s = {5}}};
  task.known_loss_db = 0.002;
  task.is_cpu_only = true;
  task.encoding = OutputEncoding{};
  for (int i = 0; i < 2; ++i) {
    task.outputs.emplace_back(task.input.shape());
    task.results.emplace_back(1);
  }
  int starts = 0;
  second.on_start = [&](Task& copy) {
    ++starts;
    EXPECT_NE(&copy, &task);
    EXPECT_EQ(copy.input.shape(), task.input.shape());
    EXPECT_NE(copy.input.data(), task.input.data());
    EXPECT_EQ(std::memcmp(copy.input.data(), task.input.data(), task.input.bytes()), 0);
    EXPECT_EQ(copy.ranks, task.ranks);
    EXPECT_EQ(copy.chroma_rank, task.chroma_rank);
    EXPECT_EQ(copy.peak, 4095);
    EXPECT_EQ(copy.rounding_step, 0.25);
    EXPECT_TRUE(copy.wants_spectrum);
    EXPECT_EQ(copy.min_factor_rank, 2);
    EXPECT_EQ(copy.known_factors.at(0).s, std::vector<double>{5});
    EXPECT_EQ(copy.known_loss_db, 0.002);
    EXPECT_TRUE(copy.is_cpu_only);
    EXPECT_EQ(copy.encoding, std::nullopt) << "its pixels are compared";
    ASSERT_EQ(copy.outputs.size(), 2u);
    ASSERT_EQ(copy.results.size(), 2u);
    for (Image& output : copy.outputs) std::memset(output.data(), 1, output.bytes());
    for (auto& planes : copy.results) planes[0].residual = 20;
  };
  first.on_start = [&](Task& started) {
    EXPECT_EQ(&started, &task);
    EXPECT_EQ(starts, 1) << "the reference is first";
    for (Image& output : started.outputs) std::memset(output.data(), 1, output.bytes());
    started.outputs[1].data()[1] = std::byte(3);  // the high byte of a sample: 512 more
    started.results[0][0].residual = 20;
    started.results[1][0].residual = 2;
  };
  const auto checked = make_checked_backend(std::move(tested), std::move(reference));
  Task* const tasks[] = {&task};
  const auto lane = checked->make_lane(1);
  EXPECT_EQ(lane->slots(), 2);
  const BatchKey key = batch_key(task, 1);
  lane->start(1, key, tasks);
  lane->finish(1);
  BatchKey with_pixels = key;
  with_pixels.encoding.reset();
  EXPECT_EQ(first.keys, std::vector{with_pixels});
  EXPECT_EQ(first.made, std::vector{1});
  EXPECT_EQ(second.made, std::vector{0}) << "it has only one lane";
  EXPECT_EQ(lane->take_spans().size(), 1u);
  EXPECT_EQ(checked->warnings(),
            (std::vector<std::string>{
                "compared tested with reference: 1 of 12 samples differ, at most by 512; PSNR "
                "before rounding differs by at most 10 dB",
                "warning of tested", "warning of reference"}));
}

TEST(CheckedBackend, answers_as_the_tested_backend) {
  auto tested = std::make_unique<RecordingBackend>("tested", 3);
  RecordingBackend& first = *tested;
  const auto checked =
      make_checked_backend(std::move(tested), std::make_unique<RecordingBackend>("reference"));
  EXPECT_EQ(checked->name(), "checked");
  EXPECT_EQ(checked->description(), "tested (of tested) compared with reference (of reference)");
  EXPECT_EQ(checked->details(), std::vector<std::string>{"details of tested"});
  EXPECT_EQ(checked->gpu_bus_ids(), std::vector<std::string>{"GPU of tested"});
  EXPECT_EQ(checked->fallback_counts().oom_splits, 3);
  EXPECT_EQ(checked->lanes(), 3);
  EXPECT_EQ(checked->batch_planes({{4, 2}, {}}), 6);
  EXPECT_EQ(checked->resizer(), nullptr);
  checked->make_gpu_lane(5);
  EXPECT_EQ(first.made, std::vector{105});
}

TEST(CheckedBackend, compares_no_task_that_failed_on_both_backends) {
  Task task;
  const auto warnings = check(std::make_unique<FlatBackend>(7, 10, true),
                              std::make_unique<FlatBackend>(4, 100, true), task);
  EXPECT_EQ(warnings, std::vector<std::string>{
                          "compared flat7 with flat4: 0 of 0 samples differ, at most by 0; PSNR "
                          "before rounding differs by at most 0 dB"});
}

}  // namespace
}  // namespace eckart::compute
