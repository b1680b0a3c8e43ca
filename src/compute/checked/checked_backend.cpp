#include "compute/checked/checked_backend.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "text/format_count.hpp"

namespace eckart::compute {
namespace {

/// The largest differences found. Shared by the lanes; thread-safe.
class Differences {
 public:
  void compare(const Task& tested, const Task& reference) {
    const std::lock_guard lock(mutex_);
    if (tested.error.empty() != reference.error.empty()) {
      ++one_sided_failures_;
      return;
    }
    if (!tested.error.empty()) return;
    for (std::size_t i = 0; i < tested.outputs.size(); ++i) {
      with_sample_type(tested.input.shape().depth, [&]<class T>(T*) {
        compare_samples<T>(tested.outputs[i], reference.outputs[i]);
      });
      for (std::size_t c = 0; c < tested.results[i].size(); ++c) {
        compare_planes(tested.results[i][c], reference.results[i][c]);
      }
    }
  }

  std::vector<std::string> warnings(const std::string& tested, const std::string& reference) const {
    const std::lock_guard lock(mutex_);
    char line[256];
    std::snprintf(line, sizeof line,
                  "compared %s with %s: %lld of %lld samples differ, at most by %g; PSNR before "
                  "rounding differs by at most %.2g dB",
                  tested.c_str(), reference.c_str(), static_cast<long long>(differing_samples_),
                  static_cast<long long>(compared_samples_), max_difference_,
                  max_psnr_difference_db_);
    std::vector<std::string> lines{line};
    if (one_sided_failures_ > 0) {
      lines.push_back(text::format_count(one_sided_failures_, "image") +
                      " failed on only one of the two backends");
    }
    return lines;
  }

 private:
  template <class T>
  void compare_samples(const Image& tested, const Image& reference) {
    const T* a = reinterpret_cast<const T*>(tested.data());
    const T* b = reinterpret_cast<const T*>(reference.data());
    const std::size_t count = tested.shape().samples();
    compared_samples_ += std::int64_t(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double difference = std::abs(double(a[i]) - double(b[i]));
      differing_samples_ += difference != 0;
      max_difference_ = std::max(max_difference_, difference);
    }
  }

  void compare_planes(const PlaneResult& tested, const PlaneResult& reference) {
    // Squared errors below this are rounding errors of both backends.
    constexpr double kRoundingFloor = 1e-3;
    if (tested.residual < kRoundingFloor && reference.residual < kRoundingFloor) return;
    const double loss = 10 * std::log10(std::max(tested.residual, kRoundingFloor) /
                                        std::max(reference.residual, kRoundingFloor));
    max_psnr_difference_db_ = std::max(max_psnr_difference_db_, std::abs(loss));
  }

  mutable std::mutex mutex_;
  std::int64_t compared_samples_ = 0, differing_samples_ = 0, one_sided_failures_ = 0;
  double max_difference_ = 0;
  double max_psnr_difference_db_ = 0;
};

Task copy_for_reference(const Task& task) {
  Task copy;
  copy.input = Image(task.input.shape());
  std::memcpy(copy.input.data(), task.input.data(), task.input.bytes());
  copy.ranks = task.ranks;
  copy.chroma_rank = task.chroma_rank;
  copy.peak = task.peak;
  copy.rounding_step = task.rounding_step;
  copy.wants_spectrum = task.wants_spectrum;
  copy.min_factor_rank = task.min_factor_rank;
  copy.known_factors = task.known_factors;
  copy.known_loss_db = task.known_loss_db;
  copy.is_cpu_only = task.is_cpu_only;
  for (const Image& output : task.outputs) copy.outputs.emplace_back(output.shape());
  copy.results = task.results;
  return copy;
}

class CheckedLane : public Lane {
 public:
  CheckedLane(std::unique_ptr<Lane> tested, std::unique_ptr<Lane> reference,
              Differences& differences)
      : differences_(differences),
        batches_(std::size_t(tested->slots())),
        tested_(std::move(tested)),
        reference_(std::move(reference)) {}

  int slots() const override { return tested_->slots(); }

  void set_stop_token(const std::stop_token& stop) override {
    tested_->set_stop_token(stop);
    reference_->set_stop_token(stop);
  }

  void start(int slot, const BatchKey& key, std::span<Task* const> tasks) override {
    CheckedBatch& batch = batches_[std::size_t(slot)];
    batch.tasks.assign(tasks.begin(), tasks.end());
    batch.copies.clear();
    for (const Task* task : tasks) batch.copies.push_back(copy_for_reference(*task));
    std::vector<Task*> copies;
    for (Task& copy : batch.copies) copies.push_back(&copy);
    reference_->start(0, key, copies);
    reference_->finish(0);
    BatchKey key_with_pixels = key;  // which are compared
    key_with_pixels.encoding.reset();
    tested_->start(slot, key_with_pixels, tasks);  // last: a started batch must be finished
  }

  void finish(int slot) override {
    tested_->finish(slot);
    const CheckedBatch& batch = batches_[std::size_t(slot)];
    for (std::size_t i = 0; i < batch.tasks.size(); ++i) {
      if (batch.tasks[i]->is_canceled || batch.copies[i].is_canceled) continue;
      differences_.compare(*batch.tasks[i], batch.copies[i]);
    }
  }

  std::vector<DeviceSpan> take_spans() override { return tested_->take_spans(); }

 private:
  struct CheckedBatch {
    std::vector<const Task*> tasks;
    std::vector<Task> copies;
  };
  Differences& differences_;
  std::vector<CheckedBatch> batches_;
  std::unique_ptr<Lane> tested_, reference_;
};

class CheckedBackend : public Backend {
 public:
  CheckedBackend(std::unique_ptr<Backend> tested, std::unique_ptr<Backend> reference)
      : tested_(std::move(tested)), reference_(std::move(reference)) {}

  std::string name() const override { return "checked"; }
  std::string description() const override {
    return tested_->name() + " (" + tested_->description() + ") compared with " +
           reference_->name() + " (" + reference_->description() + ")";
  }
  std::string device_name() const override { return tested_->device_name(); }
  std::vector<std::string> details() const override { return tested_->details(); }
  int lanes() const override { return tested_->lanes(); }
  std::vector<std::string> gpu_bus_ids() const override { return tested_->gpu_bus_ids(); }
  FallbackCounts fallback_counts() const override { return tested_->fallback_counts(); }
  std::vector<SolverChoice> solver_choices() const override { return tested_->solver_choices(); }
  int batch_planes(const BatchKey& key) const override { return tested_->batch_planes(key); }
  // resizer() is null: both backends compute the image that the CPU has resized.
  std::unique_ptr<Lane> make_lane(int index) override {
    return std::make_unique<CheckedLane>(tested_->make_lane(index),
                                         reference_->make_lane(index % reference_->lanes()),
                                         differences_);
  }
  std::unique_ptr<Lane> make_gpu_lane(int gpu) override { return tested_->make_gpu_lane(gpu); }
  std::vector<std::string> warnings() const override {
    std::vector<std::string> all = differences_.warnings(tested_->name(), reference_->name());
    for (const auto* backend : {tested_.get(), reference_.get()}) {
      for (std::string& line : backend->warnings()) all.push_back(std::move(line));
    }
    return all;
  }

 private:
  const std::unique_ptr<Backend> tested_, reference_;
  Differences differences_;
};

}  // namespace

std::unique_ptr<Backend> make_checked_backend(std::unique_ptr<Backend> tested,
                                              std::unique_ptr<Backend> reference) {
  return std::make_unique<CheckedBackend>(std::move(tested), std::move(reference));
}

}  // namespace eckart::compute
