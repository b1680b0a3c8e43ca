#include "compute/fallback/fallback_backend.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/fallback/shortage.hpp"
#include "compute/fallback/spare_backend.hpp"
#include "core/error.hpp"

namespace eckart {
namespace {

using Tasks = std::span<Task* const>;

int planes_of(Tasks tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  return planes;
}

/// As if nobody had tried yet.
void reset(Task& task) {
  task.error.clear();
  for (auto& planes : task.results) planes.assign(planes.size(), PlaneResult{});
}

void fail(Task& task, Reason reason, const std::string& error) {
  task.reason = reason;
  task.error = error;
}

/// Why `step` found no memory; nothing where it did.
template <class Step>
std::optional<std::string> shortage_in(Step&& step) {
  try {
    step();
    return std::nullopt;
  } catch (const OutOfMemory& error) {
    return error.what();
  }
}

/// The other parts of a batch go on where one has failed, but for FatalError.
template <class Step>
void attempt(Tasks tasks, Step&& step) {
  const auto fail_all = [&](Reason reason, const std::string& error) {
    for (Task* task : tasks) fail(*task, reason, error);
  };
  try {
    step();
  } catch (const FatalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_all(Reason::out_of_memory, "there is no memory left for it");
  } catch (const std::exception& error) {
    fail_all(Reason::compute_failed, error.what());
  }
}

class FallbackLane : public Lane {
 public:
  FallbackLane(Backend& gpu, int index, Shortage& shortage, SpareBackend& cpu)
      : gpu_(gpu), index_(index), shortage_(shortage), cpu_(cpu) {
    make_gpu_lane();
    in_flight_.resize(lane_ ? std::size_t(lane_->slots()) : 1);
  }

  int slots() const override { return int(in_flight_.size()); }

  /// Either leaves the batch in flight or computes all of it, in parts.
  void start(int slot, const BatchKind& kind, Tasks tasks) override {
    if (!lane_) make_gpu_lane();
    if (!lane_) {
      for (Task* task : tasks) compute_instead(kind, *task, "there is none for a lane");
      return;
    }
    const int planes = planes_of(tasks);
    const bool off_gpu =
        std::any_of(tasks.begin(), tasks.end(), [](const Task* task) { return task->off_gpu; });
    if (tasks.size() > 1 && (off_gpu || planes > shortage_.at_most(kind, planes))) {
      return in_halves(slot, kind, tasks);
    }
    if (off_gpu) {
      compute_on_cpu(kind, *tasks.front(), Reason::compute_failed, "not given to the GPU");
      return;
    }
    Batch batch{kind, {tasks.begin(), tasks.end()}};
    const auto why = shortage_in([&] { lane_->start(slot, kind, tasks); });
    if (!why) {
      in_flight_[std::size_t(slot)] = std::move(batch);
      return;
    }
    if (tasks.size() > 1) shortage_.batch_did_not_fit(kind, planes, *why);
    in_parts(slot, kind, tasks, *why);
  }

  void finish(int slot) override {
    const Batch batch = std::exchange(in_flight_[std::size_t(slot)], {});
    if (batch.tasks.empty()) return;
    const auto why = shortage_in([&] { lane_->finish(slot); });
    if (why) in_parts(slot, batch.kind, batch.tasks, *why);
  }

  std::vector<DeviceSpan> take_spans() override {
    return lane_ ? lane_->take_spans() : std::vector<DeviceSpan>();
  }

 private:
  struct Batch {
    BatchKind kind;
    std::vector<Task*> tasks;
  };

  void make_gpu_lane() {
    const auto why = shortage_in([&] { lane_ = gpu_.make_lane(index_); });
    if (why) shortage_.lane_did_not_fit(*why);
  }

  void in_parts(int slot, const BatchKind& kind, Tasks tasks, const std::string& why) {
    for (Task* task : tasks) reset(*task);
    if (tasks.size() > 1) return in_halves(slot, kind, tasks);
    shortage_.image_did_not_fit(kind, why);
    compute_instead(kind, *tasks.front(), why);
  }

  void in_halves(int slot, const BatchKind& kind, Tasks tasks) {
    shortage_.cut_in_halves();
    const std::size_t half = tasks.size() / 2;
    for (const Tasks part : {tasks.first(half), tasks.subspan(half)}) {
      attempt(part, [&] {
        start(slot, kind, part);
        finish(slot);
      });
    }
  }

  /// Whether it could; else the task has failed for `otherwise`.
  bool compute_on_cpu(const BatchKind& kind, Task& task, Reason otherwise, const std::string& why) {
    const std::string both = why + ", and on the CPU: ";
    try {
      cpu_.compute(index_, kind, task);
      if (task.error.empty()) return true;
      task.error.insert(0, both);
    } catch (const std::bad_alloc&) {
      fail(task, Reason::out_of_memory, both + "there is no memory left for it");
    } catch (const std::exception& error) {
      fail(task, otherwise, both + error.what());
    }
    return false;
  }

  /// What the GPU has no memory for.
  void compute_instead(const BatchKind& kind, Task& task, const std::string& why) {
    if (compute_on_cpu(kind, task, Reason::out_of_memory, "out of GPU memory (" + why + ")"))
      shortage_.computed_on_cpu();
  }

  Backend& gpu_;
  const int index_;
  Shortage& shortage_;
  SpareBackend& cpu_;
  std::unique_ptr<Lane> lane_;    // none where there was no memory for it
  std::vector<Batch> in_flight_;  // by slot; without tasks where start() has computed the batch
};

class FallbackBackend : public Backend {
 public:
  FallbackBackend(std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
                  Shortage::Warn warn)
      : gpu_(std::move(gpu)), shortage_(std::move(warn)), cpu_(std::move(make_cpu)) {}

  std::string name() const override { return gpu_->name(); }
  std::string device() const override { return gpu_->device(); }
  std::string description() const override { return gpu_->description(); }
  std::vector<std::string> details() const override { return gpu_->details(); }
  int lanes() const override { return gpu_->lanes(); }
  std::vector<std::string> gpus() const override { return gpu_->gpus(); }
  BackendCounts counts() const override { return shortage_.counts(); }
  int batch_planes(const BatchKind& kind) const override {
    return shortage_.at_most(kind, gpu_->batch_planes(kind));
  }
  std::unique_ptr<Lane> make_lane(int index) override {
    return std::make_unique<FallbackLane>(*gpu_, index, shortage_, cpu_);
  }
  std::vector<SolverChoice> choices() const override { return gpu_->choices(); }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> all = gpu_->remarks();
    for (std::string& line : shortage_.remarks()) all.push_back(std::move(line));
    return all;
  }

 private:
  const std::unique_ptr<Backend> gpu_;
  Shortage shortage_;
  SpareBackend cpu_;
};

}  // namespace

std::unique_ptr<Backend> make_fallback_backend(
    std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
    std::function<void(const std::string& warning)> warn) {
  return std::make_unique<FallbackBackend>(std::move(gpu), std::move(make_cpu), std::move(warn));
}

}  // namespace eckart
