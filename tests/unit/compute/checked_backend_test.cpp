#include "compute/checked/checked_backend.hpp"

#include <gtest/gtest.h>

#include <cstring>

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

}  // namespace
}  // namespace eckart::compute
