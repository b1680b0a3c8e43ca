#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "io/source.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/write.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::test {

/// Created before any thread starts, as in the program. libspdlog creates the logger at its first
/// use. It is not built with ThreadSanitizer, which would not see the lock.
inline spdlog::logger* const kLogger = spdlog::default_logger_raw();

/// Waits until a condition holds that another thread fulfills.
template <class Condition>
void wait_until(Condition&& condition) {
  if (!wait_for(condition)) ADD_FAILURE() << "the event did not come";
}

/// The images 0, 1, 2, ... have the names "0", "1", "2", ... and hold their number in their first
/// bytes.
constexpr ImageShape kSmall{8, 4, 1, Depth::u8};

inline constexpr RankPolicy kOneRank[] = {{}};

inline void fill(pipeline::WorkItem& item, int number, const ImageShape& shape = kSmall) {
  item.output_ranks = kOneRank;
  item.image_shape = item.matrices_shape = shape;
  compute::Task& task = item.task;
  task.input = Image(shape);
  std::memset(task.input.data(), 0, task.input.bytes());
  std::memcpy(task.input.data(), &number, sizeof number);
  task.outputs.emplace_back(shape);
  task.results.emplace_back(std::size_t(shape.channels));
}
inline int number_of(const Image& image) {
  int number = 0;
  std::memcpy(&number, image.data(), sizeof number);
  return number;
}
inline int number_of(const pipeline::WorkItem& item) { return std::stoi(item.file.string()); }

inline pipeline::ItemPtr make_item(int number, const ImageShape& shape = kSmall) {
  auto item = std::make_unique<pipeline::WorkItem>();
  item->file = std::to_string(number);
  fill(*item, number, shape);
  item->advance(pipeline::ItemState::loaded);
  return item;
}

/// Called with the number of an image; may throw or block.
using Hook = std::function<void(int number)>;
inline void call(const Hook& hook, int number) {
  if (hook) hook(number);
}

class FakeSource : public io::Source {
 public:
  FakeSource(const int& images, const Hook& hook, const bool& waits)
      : images_(images), hook_(hook), waits_at_end_(waits) {}
  bool was_stopped() const { return was_stopped_; }
  std::optional<io::SourceItem> next(const std::stop_token& stop) override {
    if (next_ == images_ && waits_at_end_) {
      wait_until([&] { return stop.stop_requested(); });
      was_stopped_ = true;
    }
    if (next_ == images_ || stop.stop_requested()) return std::nullopt;
    call(hook_, next_);
    const std::string name = std::to_string(next_++);
    return io::SourceItem{name, name, {}};
  }
  std::int64_t ignored_count() const override { return 0; }

 private:
  const int& images_;
  const Hook& hook_;
  const bool& waits_at_end_;
  int next_ = 0;
  std::atomic<bool> was_stopped_ = false;
};

/// A backend that returns each image unchanged when its slot is finished.
class FakeBackend : public compute::Backend {
 public:
  int lane_count = 1, slot_count = 2, planes = 1;
  std::function<void(int lane)> on_make_lane;
  std::function<bool(int number)> should_cancel;        ///< becomes Task::is_canceled
  std::function<void()> on_batch_planes;                ///< when the capacity of a batch is queried
  Hook on_start, on_finish;                             ///< for each image of the batch
  std::function<std::string(int number)> error_of;      ///< becomes Task::error
  FailureReason reason = FailureReason::not_converged;  ///< becomes Task::reason
  preparation::Resizer* image_resizer = nullptr;

  std::string name() const override { return "fake"; }
  std::string description() const override { return "for tests"; }
  int lanes() const override { return lane_count; }
  int batch_planes(const compute::BatchKey&) const override {
    if (on_batch_planes) on_batch_planes();
    return planes;
  }
  std::unique_ptr<compute::Lane> make_lane(int index) override;
  preparation::Resizer* resizer() const override { return image_resizer; }

  /// Returns the numbers of the images whose computation has begun, ascending.
  std::vector<int> started() const {
    const std::lock_guard lock(mutex_);
    std::vector<int> numbers = started_;
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }
  void record_started(int number) {
    const std::lock_guard lock(mutex_);
    started_.push_back(number);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<int> started_;
};

class FakeLane : public compute::Lane {
 public:
  explicit FakeLane(FakeBackend& backend) : backend_(backend) {}
  int slots() const override { return backend_.slot_count; }
  void start(int slot, const compute::BatchKey&, std::span<compute::Task* const> tasks) override {
    if (tasks_.contains(slot)) throw std::logic_error("the slot is in use");
    for (compute::Task* task : tasks) {
      call(backend_.on_start, number_of(task->input));
      backend_.record_started(number_of(task->input));
    }
    tasks_[slot] = {tasks.begin(), tasks.end()};
  }
  void finish(int slot) override {
    const std::vector<compute::Task*> tasks = std::move(tasks_.at(slot));
    tasks_.erase(slot);
    for (compute::Task* task : tasks) call(backend_.on_finish, number_of(task->input));
    for (compute::Task* task : tasks) {
      std::memcpy(task->outputs[0].data(), task->input.data(), task->input.bytes());
      if (backend_.error_of) task->error = backend_.error_of(number_of(task->input));
      task->reason = backend_.reason;
      if (backend_.should_cancel)
        task->is_canceled = backend_.should_cancel(number_of(task->input));
    }
  }

 private:
  FakeBackend& backend_;
  std::map<int, std::vector<compute::Task*>> tasks_;
};

inline std::unique_ptr<compute::Lane> FakeBackend::make_lane(int index) {
  if (on_make_lane) on_make_lane(index);
  return std::make_unique<FakeLane>(*this);
}

/// An owner that records nothing and replaces existing files.
class FakeOwner : public pipeline::OutputOwner {
 public:
  void check_in_place() const override {}
  io::CollisionAction resolve_collision(const pipeline::WorkItem&, const std::filesystem::path&,
                                        const std::filesystem::path&) const override {
    return io::CollisionAction::replace;
  }
  void abandon_intents(std::span<pipeline::WorkItem* const>) override {}
  void record(std::span<pipeline::WorkItem* const>, std::span<pipeline::WorkItem* const>) override {
  }
  void release_outputs(const pipeline::WorkItem&) override {}
};

/// Steps that a test can replace. By default, publishing is the program's own.
class FakeSteps : public pipeline::JobSteps {
 public:
  explicit FakeSteps(compute::Backend& backend)
      : on_create_backend([&backend]() -> compute::Backend& { return backend; }) {}

  std::function<compute::Backend&()> on_create_backend;
  std::function<void(pipeline::WorkItem&)> on_assign_outputs = [](pipeline::WorkItem& item) {
    item.outputs = {item.relative};
  };
  std::function<void(pipeline::WorkItem&, pipeline::LoadContext&)> on_load;
  std::function<void(pipeline::WorkItem&)> on_write;
  std::function<void(std::span<pipeline::ItemPtr>)> on_publish =
      [this](std::span<pipeline::ItemPtr> group) {
        pipeline::publish_outputs(group, owner_, false);
      };
  std::function<void(const pipeline::InFlightBatches::Items&)> device_lost_hook;

  compute::Backend& create_backend() override { return on_create_backend(); }
  void assign_outputs(pipeline::WorkItem& item) override { on_assign_outputs(item); }
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) override {
    on_load(item, context);
  }
  void write(pipeline::WorkItem& item) override { on_write(item); }
  void publish(std::span<pipeline::ItemPtr> group) override { on_publish(group); }
  void finish(const pipeline::WorkItem&) override {}
  void on_device_lost(const pipeline::InFlightBatches::Items& items) override {
    if (device_lost_hook) device_lost_hook(items);
  }

 private:
  FakeOwner owner_;
};

inline pipeline::PipelineOptions test_options(
    int load_threads, int write_threads,
    std::chrono::milliseconds linger = std::chrono::milliseconds(20)) {
  return {.load_threads = load_threads,
          .write_threads = write_threads,
          .budget_bytes = std::size_t(1) << 30,
          .linger = linger,
          .limits = {.stall = std::chrono::minutes(3), .decode = std::chrono::seconds(20)}};
}

/// A pipeline with a source and steps that the test controls. Set the fields, then call run().
class PipelineHarness {
 public:
  int images = 20;
  bool source_waits_at_end = false;  ///< waits for a stop, like a list whose writer is slow
  pipeline::PipelineOptions options = test_options(2, 2, std::chrono::milliseconds(1));
  FakeBackend backend;
  Hook on_next, on_load, on_reserved, on_write, on_publish;
  Hook on_record;  ///< before an image that is published is recorded
  std::function<void(pipeline::LoadContext&)> on_load_context;
  std::function<Outcome(int number)> outcome_of_load;
  std::function<compute::Backend&()> make_backend = [this]() -> compute::Backend& {
    return backend;
  };
  std::function<ImageShape(int number)> shape_of = [](int) { return kSmall; };

  pipeline::Pipeline& pipeline() {
    if (!pipeline_) {
      steps_.on_create_backend = make_backend;
      steps_.on_load = [this](pipeline::WorkItem& item, pipeline::LoadContext& context) {
        load(item, context);
      };
      steps_.on_write = [this](pipeline::WorkItem& item) { write(item); };
      steps_.on_publish = [this](std::span<pipeline::ItemPtr> group) { publish(group); };
      pipeline_ = std::make_unique<pipeline::Pipeline>(source_, steps_, options);
    }
    return *pipeline_;
  }
  telemetry::RunReport run() { return pipeline().run(); }
  /// Whether the source was stopped; needs source_waits_at_end.
  bool is_source_stopped() const { return source_.was_stopped(); }

  /// Returns the numbers of the written images, ascending. Call it after run().
  std::vector<int> written() const { return sorted(written_); }
  std::vector<int> loaded() const {
    const std::lock_guard lock(mutex_);
    return sorted(loaded_);
  }

 private:
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) {
    const int number = number_of(item);
    if (on_load_context) on_load_context(context);
    call(on_load, number);
    if (outcome_of_load) item.outcome = outcome_of_load(number);
    if (!item.outcome.ok()) return;
    item.reservation = context.reserve(2 * shape_of(number).bytes());
    if (!item.reservation) return;
    call(on_reserved, number);
    fill(item, number, shape_of(number));
    const std::lock_guard lock(mutex_);
    loaded_.push_back(number);
  }
  void write(pipeline::WorkItem& item) {
    const int number = number_of(item.task.outputs.at(0));
    call(on_write, number);
    if (number != number_of(item)) throw std::logic_error("another image's pixels");
  }
  /// Like publish_outputs(), in two steps.
  void publish(std::span<pipeline::ItemPtr> group) {
    for (const pipeline::ItemPtr& item : group) {
      if (item->state() != pipeline::ItemState::published) continue;
      call(on_record, number_of(*item));
      item->advance(pipeline::ItemState::recorded);
    }
    for (const pipeline::ItemPtr& item : group) {
      if (item->state() >= pipeline::ItemState::published) continue;
      if (item->outcome.ok()) {
        call(on_publish, number_of(*item));
        const std::lock_guard lock(mutex_);
        written_.push_back(number_of(*item));
      }
      item->advance(pipeline::ItemState::published);
    }
  }
  static std::vector<int> sorted(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  FakeSource source_{images, on_next, source_waits_at_end};
  FakeSteps steps_{backend};
  mutable std::mutex mutex_;
  std::vector<int> loaded_, written_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
};

/// Returns 0 .. end-1, without the numbers for which `except` returns true.
inline std::vector<int> numbers(
    int end, const std::function<bool(int)>& except = [](int) { return false; }) {
  std::vector<int> result;
  for (int i = 0; i < end; ++i) {
    if (!except(i)) result.push_back(i);
  }
  return result;
}

}  // namespace eckart::test
