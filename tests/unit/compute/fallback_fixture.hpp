#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "compute/fallback/fallback_backend.hpp"

namespace eckart {

inline const BatchKind kKind{{64, 32}, {{20}}}, kOther{{96, 32}, {{20}}};

/// What a fake backend does, in the hands of the test, and what it has done.
struct Fake {
  int mark = 0;  ///< every sample of what it computes
  int planes = 8;
  int fit_start = std::numeric_limits<int>::max();   ///< planes that start() has memory for
  int fit_finish = std::numeric_limits<int>::max();  ///< and finish()
  bool lane_fits = true;
  std::function<void(Task&)> on_finish{};  ///< for each task

  std::vector<int> started{};  ///< planes of each start(), those without memory included
  std::map<const Task*, int> computed{};

  struct FakeLane : Lane {
    explicit FakeLane(Fake& owner) : fake(owner) {}
    int slots() const override { return 2; }
    void start(int slot, const BatchKind&, std::span<Task* const> tasks) override {
      if (batches.contains(slot)) throw std::logic_error("the slot is taken");
      int sum = 0;
      for (const Task* task : tasks) sum += task->input.shape().channels;
      fake.started.push_back(sum);
      if (sum > fake.fit_start) run_out(tasks);
      batches[slot] = {sum, {tasks.begin(), tasks.end()}};
    }
    void finish(int slot) override {
      const auto [sum, tasks] = batches.at(slot);
      batches.erase(slot);
      if (sum > fake.fit_finish) run_out(tasks);
      for (Task* task : tasks) {
        if (fake.on_finish) fake.on_finish(*task);
        std::memset(task->outputs[0].data(), fake.mark, task->outputs[0].bytes());
        for (PlaneResult& result : task->results[0]) result.residual += fake.mark;
        ++fake.computed[task];
      }
    }
    /// In the middle of it.
    static void run_out(std::span<Task* const> tasks) {
      for (Task* task : tasks) {
        task->error = "half done";
        std::memset(task->outputs[0].data(), 99, task->outputs[0].bytes());
        for (PlaneResult& result : task->results[0]) result.residual = 99;
      }
      throw OutOfMemory("no room");
    }
    Fake& fake;
    std::map<int, std::pair<int, std::vector<Task*>>> batches;
  };
};

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(Fake& fake) : fake_(fake) {}
  std::string name() const override { return "fake"; }
  std::string description() const override { return "for tests"; }
  int lanes() const override { return 2; }
  std::vector<std::string> gpus() const override { return {"0000:01:00.0"}; }
  int batch_planes(const BatchKind&) const override { return fake_.planes; }
  std::unique_ptr<Lane> make_lane(int) override {
    if (!fake_.lane_fits) throw OutOfMemory("no room for a lane");
    return std::make_unique<Fake::FakeLane>(fake_);
  }

 private:
  Fake& fake_;
};

class FallbackTest : public ::testing::Test {
 protected:
  static constexpr int kGpu = 1, kCpu = 2;

  Task* make_task(int channels = 1) {
    auto& task = tasks_.emplace_back(std::make_unique<Task>());
    task->input = Image({60, 30, channels, Depth::u8});
    task->outputs.emplace_back(task->input.shape());
    task->results.emplace_back(std::size_t(channels));
    return task.get();
  }
  std::vector<Task*> make_tasks(int count, int channels = 1) {
    std::vector<Task*> tasks;
    for (int i = 0; i < count; ++i) tasks.push_back(make_task(channels));
    return tasks;
  }
  void compute(const std::vector<Task*>& tasks, const BatchKind& kind = kKind) {
    lane_->start(0, kind, tasks);
    lane_->finish(0);
  }

  /// That each of these was computed, once, and by whom; and that nothing is left of other tries.
  void expect_computed(const std::vector<Task*>& tasks, int by) {
    for (const Task* task : tasks) {
      EXPECT_EQ(task->error, "");
      EXPECT_EQ(int(task->outputs[0].data()[0]), by);
      for (const PlaneResult& result : task->results[0]) EXPECT_EQ(result.residual, by);
      EXPECT_EQ(gpu_.computed[task], by == kGpu ? 1 : 0);
      EXPECT_EQ(cpu_.computed[task], by == kCpu ? 1 : 0);
    }
  }

  Fake gpu_{.mark = kGpu}, cpu_{.mark = kCpu};
  int cpus_made_ = 0;
  std::vector<std::string> warnings_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::function<std::unique_ptr<Backend>()> make_cpu_ = [this] {
    ++cpus_made_;
    return std::make_unique<FakeBackend>(cpu_);
  };
  const std::unique_ptr<Backend> backend_ = make_fallback_backend(
      std::make_unique<FakeBackend>(gpu_), [this] { return make_cpu_(); },
      [this](const std::string& warning) { warnings_.push_back(warning); });
  std::unique_ptr<Lane> lane_ = backend_->make_lane(0);
};

}  // namespace eckart
