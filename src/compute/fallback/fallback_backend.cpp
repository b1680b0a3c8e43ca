#include "compute/fallback/fallback_backend.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compute/fallback/lazy_backend.hpp"
#include "compute/fallback/oom_tracker.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"

namespace eckart::compute {
namespace {

using Tasks = std::span<Task* const>;

int count_planes(Tasks tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  return planes;
}

/// Whether the image must not be computed on a GPU, or nothing is to be decomposed.
bool must_use_cpu(const Task* task) { return task->is_cpu_only || !task->known_factors.empty(); }

/// Removes the results and the error of an earlier attempt.
void reset(Task& task) {
  task.error.clear();
  task.failed_stage = Stage::compute;
  task.spectra.clear();
  task.factors.clear();
  task.encoded_outputs.clear();
  for (auto& planes : task.results) planes.assign(planes.size(), PlaneResult{});
}

void set_error(Task& task, FailureReason reason, const std::string& error) {
  task.reason = reason;
  task.error = error;
}

/// Runs `step`. Returns the OutOfMemory that it throws, or nullopt.
template <class Step>
std::optional<OutOfMemory> catch_oom(Step&& step) {
  try {
    step();
    return std::nullopt;
  } catch (const OutOfMemory& error) {
    return error;
  }
}

/// Runs `step` and records its failure in `tasks`, so that the other parts of a split batch
/// continue. Rethrows FatalError.
template <class Step>
void run_isolated(Tasks tasks, Step&& step) {
  const auto fail_all = [&](FailureReason reason, const std::string& error) {
    for (Task* task : tasks) set_error(*task, reason, error);
  };
  try {
    step();
  } catch (const FatalError&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail_all(FailureReason::out_of_memory, "not enough host memory");
  } catch (const std::exception& error) {
    fail_all(FailureReason::compute_failed, error.what());
  }
}

class FallbackLane : public Lane {
 public:
  FallbackLane(Backend& gpu, int index, OomTracker& oom, LazyBackend& cpu)
      : gpu_(gpu), index_(index), oom_(oom), cpu_(cpu) {
    make_gpu_lane();
    in_flight_.resize(lane_ ? std::size_t(lane_->slots()) : 1);
  }

  int slots() const override { return int(in_flight_.size()); }

  void set_stop_token(const std::stop_token& stop) override {
    stop_ = stop;
    if (lane_) lane_->set_stop_token(stop);
  }

  /// Either leaves the batch in flight, or splits it and computes all parts before it returns.
  void start(int slot, const BatchKey& key, Tasks tasks) override {
    if (!lane_) make_gpu_lane();
    if (!lane_) {
      for (Task* task : tasks) fall_back_to_cpu(key, *task, *lane_oom_);
      return;
    }
    if (std::ranges::any_of(tasks, must_use_cpu)) return start_some(slot, key, tasks);
    const int planes = count_planes(tasks);
    if (tasks.size() > 1 && planes > oom_.limit_planes(key, planes))
      return split_and_compute(slot, key, tasks);
    InFlightBatch batch{key, {tasks.begin(), tasks.end()}};
    const auto cause = catch_oom([&] { lane_->start(slot, key, tasks); });
    if (!cause) {
      in_flight_[std::size_t(slot)] = std::move(batch);
      return;
    }
    if (tasks.size() > 1) oom_.record_batch_oom(key, planes, *cause);
    recover_from_oom(slot, key, tasks, *cause);
  }

  void finish(int slot) override {
    const InFlightBatch batch = std::exchange(in_flight_[std::size_t(slot)], {});
    if (batch.tasks.empty()) return;
    const auto cause = catch_oom([&] { lane_->finish(slot); });
    if (cause) return recover_from_oom(slot, batch.key, batch.tasks, *cause);
    oom_.record_gpu_images(batch.tasks.size());
  }

  std::vector<DeviceSpan> take_spans() override {
    return lane_ ? lane_->take_spans() : std::vector<DeviceSpan>();
  }

 private:
  struct InFlightBatch {
    BatchKey key;
    std::vector<Task*> tasks;
  };

  void make_gpu_lane() {
    lane_oom_ = catch_oom([&] { lane_ = gpu_.make_lane(index_); });
    if (lane_oom_) return oom_.record_lane_oom(*lane_oom_);
    lane_->set_stop_token(stop_);
  }

  /// Computes the images that must not use the GPU, and starts the others.
  void start_some(int slot, const BatchKey& key, Tasks tasks) {
    std::vector<Task*> others;
    for (Task* task : tasks) {
      if (must_use_cpu(task)) {
        compute_on_cpu(key, *task, FailureReason::compute_failed,
                       "the GPU is not used for this image, and the CPU failed: ");
      } else {
        others.push_back(task);
      }
    }
    if (!others.empty()) start(slot, key, others);
  }

  void recover_from_oom(int slot, const BatchKey& key, Tasks tasks, const OutOfMemory& cause) {
    for (Task* task : tasks) reset(*task);
    if (tasks.size() > 1) return split_and_compute(slot, key, tasks);
    oom_.record_image_oom(key, cause);
    fall_back_to_cpu(key, *tasks.front(), cause);
  }

  void split_and_compute(int slot, const BatchKey& key, Tasks tasks) {
    oom_.record_split();
    const std::size_t half = tasks.size() / 2;
    for (const Tasks part : {tasks.first(half), tasks.subspan(half)}) {
      run_isolated(part, [&] {
        start(slot, key, part);
        finish(slot);
      });
    }
  }

  /// Returns true if the CPU computed the task. Otherwise sets its error, which begins with
  /// `prefix`; `reason_if_failed` is used for exceptions other than std::bad_alloc. Rethrows
  /// FatalError, for example if no CPU backend can be made: that is no failure of the image.
  bool compute_on_cpu(const BatchKey& key, Task& task, FailureReason reason_if_failed,
                      const std::string& prefix) {
    try {
      cpu_.compute(index_, key, task, stop_);
      if (task.error.empty()) return true;
      task.error.insert(0, prefix);
    } catch (const FatalError&) {
      throw;
    } catch (const std::bad_alloc&) {
      set_error(task, FailureReason::out_of_memory, prefix + "not enough host memory");
    } catch (const std::exception& error) {
      set_error(task, reason_if_failed, prefix + error.what());
    }
    return false;
  }

  /// Computes an image for which the GPU backend has no memory.
  void fall_back_to_cpu(const BatchKey& key, Task& task, const OutOfMemory& cause) {
    const std::string gpu_error =
        std::string("not enough ") + to_text(cause.kind()) + " (" + cause.what() + ")";
    if (compute_on_cpu(key, task, FailureReason::out_of_memory,
                       gpu_error + "; the CPU fallback also failed: "))
      oom_.record_cpu_fallback();
  }

  Backend& gpu_;
  const int index_;
  OomTracker& oom_;
  LazyBackend& cpu_;
  std::stop_token stop_;
  std::unique_ptr<Lane> lane_;           // null if there was no memory for a lane
  std::optional<OutOfMemory> lane_oom_;  // why `lane_` is null
  // By slot; without tasks if start() has already computed the batch.
  std::vector<InFlightBatch> in_flight_;
};

class FallbackBackend : public Backend {
 public:
  FallbackBackend(std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
                  OomTracker::Warn warn)
      : gpu_(std::move(gpu)), oom_(std::move(warn)), cpu_(std::move(make_cpu)) {}

  std::string name() const override { return gpu_->name(); }
  std::string device_name() const override { return gpu_->device_name(); }
  std::string description() const override { return gpu_->description(); }
  std::vector<std::string> details() const override { return gpu_->details(); }
  int lanes() const override { return gpu_->lanes(); }
  std::vector<std::string> gpu_bus_ids() const override { return gpu_->gpu_bus_ids(); }
  FallbackCounts fallback_counts() const override { return oom_.fallback_counts(); }
  int batch_planes(const BatchKey& key) const override {
    return oom_.limit_planes(key, gpu_->batch_planes(key));
  }
  std::unique_ptr<Lane> make_lane(int index) override {
    return std::make_unique<FallbackLane>(*gpu_, index, oom_, cpu_);
  }
  std::unique_ptr<Lane> make_gpu_lane(int gpu) override { return gpu_->make_gpu_lane(gpu); }
  preparation::Resizer* resizer() const override { return gpu_->resizer(); }
  DecodingRate decoding_rate(ImageFormat format, const ImageShape& shape) const override {
    return gpu_->decoding_rate(format, shape);
  }
  std::vector<SolverChoice> solver_choices() const override { return gpu_->solver_choices(); }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> all = gpu_->warnings();
    for (std::string& line : oom_.warnings()) all.push_back(std::move(line));
    return all;
  }

 private:
  const std::unique_ptr<Backend> gpu_;
  OomTracker oom_;
  LazyBackend cpu_;
};

}  // namespace

std::unique_ptr<Backend> make_fallback_backend(
    std::unique_ptr<Backend> gpu, std::function<std::unique_ptr<Backend>()> make_cpu,
    std::function<void(const std::string& warning)> warn) {
  return std::make_unique<FallbackBackend>(std::move(gpu), std::move(make_cpu), std::move(warn));
}

}  // namespace eckart::compute
