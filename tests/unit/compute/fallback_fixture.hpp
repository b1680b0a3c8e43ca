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
#include "preparation/resizer.hpp"

namespace eckart::compute {

inline const BatchKey kKey{{64, 32}, {{20}}}, kOtherKey{{96, 32}, {{20}}};

/// The behavior of a fake backend, set by the test, and a record of its calls.
struct BackendScript {
  int fill_value = 0;  ///< written to every sample
  int planes = 8;
  int start_capacity = std::numeric_limits<int>::max();   ///< planes for which start() has memory
  int finish_capacity = std::numeric_limits<int>::max();  ///< planes for which finish() has memory
  bool has_lane_memory = true;
  MemoryKind memory = MemoryKind::gpu;     ///< the kind that runs out
  std::function<void(Task&)> on_finish{};  ///< called for each task

  std::vector<int> started{};  ///< planes of each start(), including those that ran out of memory
  std::map<const Task*, int> computed{};
  std::vector<int> gpu_lanes{};  ///< of make_gpu_lane()
  std::vector<std::string> warnings{};
  preparation::Resizer* resizer = nullptr;

  struct ScriptedLane : Lane {
    explicit ScriptedLane(BackendScript& owner) : script(owner) {}
    int slots() const override { return 2; }
    void set_stop_token(const std::stop_token& stop_token) override { stop = stop_token; }
    void start(int slot, const BatchKey&, std::span<Task* const> tasks) override {
      if (batches.contains(slot)) throw std::logic_error("the slot is in use");
      int sum = 0;
      for (const Task* task : tasks) sum += task->input.shape().channels;
      script.started.push_back(sum);
      if (sum > script.start_capacity) throw_out_of_memory(tasks);
      batches[slot] = {sum, {tasks.begin(), tasks.end()}};
    }
    std::vector<DeviceSpan> take_spans() override { return std::vector<DeviceSpan>(3); }
    void finish(int slot) override {
      const auto [sum, tasks] = batches.at(slot);
      batches.erase(slot);
      if (sum > script.finish_capacity) throw_out_of_memory(tasks);
      for (Task* task : tasks) {
        if (script.on_finish) script.on_finish(*task);
        task->is_canceled = stop.stop_requested();
        std::memset(task->outputs[0].data(), script.fill_value, task->outputs[0].bytes());
        for (PlaneResult& result : task->results[0]) result.residual += script.fill_value;
        ++script.computed[task];
      }
    }
    /// Fails after part of the work was done.
    void throw_out_of_memory(std::span<Task* const> tasks) const {
      for (Task* task : tasks) {
        task->error = "half done";
        task->encoded_outputs.resize(1);
        task->failed_stage = Stage::load;
        task->spectra.resize(1);
        task->factors.resize(1);
        std::memset(task->outputs[0].data(), 99, task->outputs[0].bytes());
        for (PlaneResult& result : task->results[0]) result.residual = 99;
      }
      throw OutOfMemory("cudaMalloc failed", script.memory);
    }
    BackendScript& script;
    std::stop_token stop;
    std::map<int, std::pair<int, std::vector<Task*>>> batches;
  };
};

class ScriptedBackend : public Backend {
 public:
  explicit ScriptedBackend(BackendScript& script) : script_(script) {}
  std::string name() const override { return "fake"; }
  std::string description() const override { return "for tests"; }
  int lanes() const override { return 2; }
  std::vector<std::string> gpu_bus_ids() const override { return {"0000:01:00.0"}; }
  int batch_planes(const BatchKey&) const override { return script_.planes; }
  std::string device_name() const override { return "the device"; }
  std::vector<std::string> details() const override { return {"a detail"}; }
  std::vector<std::string> warnings() const override { return script_.warnings; }
  DecodingRate decoding_rate(ImageFormat format, const ImageShape& shape) const override {
    return {.max_images = shape.rows + int(format)};
  }
  preparation::Resizer* resizer() const override { return script_.resizer; }
  std::vector<SolverChoice> solver_choices() const override {
    return {{{{2, 5}, 1, 1, 7}, SolverKind::gram, "it is fake"}};
  }
  std::unique_ptr<Lane> make_gpu_lane(int gpu) override {
    script_.gpu_lanes.push_back(gpu);
    return make_lane(gpu);
  }
  std::unique_ptr<Lane> make_lane(int) override {
    if (!script_.has_lane_memory) throw OutOfMemory("cudaMalloc failed for a lane", script_.memory);
    return std::make_unique<BackendScript::ScriptedLane>(script_);
  }

 private:
  BackendScript& script_;
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
  void compute(const std::vector<Task*>& tasks, const BatchKey& key = kKey) {
    lane_->start(0, key, tasks);
    lane_->finish(0);
  }

  /// Expects that each task was computed exactly once, by this backend, and that nothing of failed
  /// attempts remains.
  void expect_computed(const std::vector<Task*>& tasks, int by) {
    for (const Task* task : tasks) {
      EXPECT_EQ(task->error, "");
      EXPECT_EQ(int(task->outputs[0].data()[0]), by);
      EXPECT_TRUE(task->encoded_outputs.empty());
      EXPECT_TRUE(task->spectra.empty());
      EXPECT_TRUE(task->factors.empty());
      EXPECT_EQ(task->failed_stage, Stage::compute);
      for (const PlaneResult& result : task->results[0]) EXPECT_EQ(result.residual, by);
      EXPECT_EQ(gpu_.computed[task], by == kGpu ? 1 : 0);
      EXPECT_EQ(cpu_.computed[task], by == kCpu ? 1 : 0);
    }
  }

  BackendScript gpu_{.fill_value = kGpu}, cpu_{.fill_value = kCpu};
  int cpu_backends_made_ = 0;
  std::vector<std::string> warnings_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::function<std::unique_ptr<Backend>()> make_cpu_ = [this] {
    ++cpu_backends_made_;
    return std::make_unique<ScriptedBackend>(cpu_);
  };
  const std::unique_ptr<Backend> backend_ = make_fallback_backend(
      std::make_unique<ScriptedBackend>(gpu_), [this] { return make_cpu_(); },
      [this](const std::string& warning) { warnings_.push_back(warning); });
  std::unique_ptr<Lane> lane_ = backend_->make_lane(0);
};

}  // namespace eckart::compute
