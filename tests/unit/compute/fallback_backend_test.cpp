// Batches that do not fit into GPU memory.
#include "compute/fallback/fallback_backend.hpp"

#include <atomic>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "core/error.hpp"
#include "tests/unit/compute/fallback_fixture.hpp"

namespace eckart::compute {
namespace {

using Planes = std::vector<int>;

TEST_F(FallbackTest, leaves_a_batch_that_fits_in_flight) {
  const auto tasks = make_tasks(8);
  lane_->start(1, kKey, tasks);
  EXPECT_TRUE(gpu_.computed.empty());
  lane_->finish(1);
  expect_computed(tasks, kGpu);
  EXPECT_EQ(gpu_.started, Planes{8});
  EXPECT_EQ(cpu_backends_made_, 0);
}

TEST_F(FallbackTest, splits_a_batch_if_start_runs_out_of_memory) {
  gpu_.start_capacity = 2;
  const auto tasks = make_tasks(7);
  compute(tasks);
  expect_computed(tasks, kGpu);
  EXPECT_EQ(cpu_backends_made_, 0);
}

TEST_F(FallbackTest, splits_a_batch_if_finish_runs_out_of_memory) {
  gpu_.finish_capacity = 2;
  const auto tasks = make_tasks(7);
  compute(tasks);
  expect_computed(tasks, kGpu);
  EXPECT_EQ(cpu_backends_made_, 0);
}

TEST_F(FallbackTest, counts_images_of_the_gpu_apart_from_those_of_the_cpu) {
  gpu_.start_capacity = 2;
  auto tasks = make_tasks(5);
  tasks.push_back(make_task(3));  // fits nowhere but on the CPU
  compute(tasks);
  EXPECT_EQ(backend_->fallback_counts().gpu_images, 5);
  EXPECT_EQ(backend_->fallback_counts().cpu_fallback_images, 1);
  gpu_.start_capacity = 8;
  gpu_.finish_capacity = 0;
  compute(make_tasks(2));
  EXPECT_EQ(backend_->fallback_counts().gpu_images, 5) << "finish() had no memory";
  EXPECT_EQ(backend_->fallback_counts().cpu_fallback_images, 3);
}

TEST_F(FallbackTest, keeps_an_images_channels_together) {
  gpu_.start_capacity = 3;
  const auto tasks = make_tasks(4, 3);
  compute(tasks);
  expect_computed(tasks, kGpu);
  EXPECT_EQ(gpu_.started, (Planes{12, 6, 3, 3, 3, 3}));
}

TEST_F(FallbackTest, does_not_affect_the_batch_in_another_slot) {
  const auto first = make_tasks(4), second = make_tasks(8), third = make_tasks(4);
  lane_->start(0, kKey, first);
  gpu_.start_capacity = 4;
  lane_->start(1, kKey, second);  // split, in slot 1
  lane_->finish(1);
  lane_->start(1, kKey, third);
  gpu_.finish_capacity = 1;
  lane_->finish(0);  // split, in slot 0
  lane_->finish(1);
  for (const auto& tasks : {first, second, third}) expect_computed(tasks, kGpu);
}

TEST_F(FallbackTest, remembers_the_batch_limit_for_all_lanes) {
  gpu_.start_capacity = 2;
  compute(make_tasks(8));
  EXPECT_EQ(backend_->batch_planes(kKey), 2);
  EXPECT_EQ(backend_->batch_planes(kOtherKey), 8);

  gpu_.started.clear();
  lane_ = backend_->make_lane(1);
  const auto gathered_before = make_tasks(8);
  compute(gathered_before);
  expect_computed(gathered_before, kGpu);
  EXPECT_EQ(gpu_.started, (Planes{2, 2, 2, 2}));  // split before start() fails
}

/// In finish(), memory ran out because some planes had to be recomputed, not because of the batch
/// size.
TEST_F(FallbackTest, sets_no_limit_if_finish_runs_out_of_memory) {
  gpu_.finish_capacity = 2;
  compute(make_tasks(8));
  EXPECT_EQ(backend_->batch_planes(kKey), 8);
}

TEST_F(FallbackTest, computes_an_image_that_does_not_fit_alone_on_the_cpu) {
  gpu_.start_capacity = 2;
  const auto large = make_tasks(1, 3), small = make_tasks(2);
  compute({small[0], large[0], small[1]});
  expect_computed(large, kCpu);
  expect_computed(small, kGpu);

  const auto next = make_tasks(1, 3);
  compute(next);
  expect_computed(next, kCpu);
  EXPECT_EQ(cpu_backends_made_, 1);
}

TEST_F(FallbackTest, uses_the_gpu_again_when_memory_is_free) {
  gpu_.start_capacity = 0;
  const auto without = make_tasks(2), with = make_tasks(1);
  compute(without);
  expect_computed(without, kCpu);
  gpu_.start_capacity = 8;
  compute(with);
  expect_computed(with, kGpu);
}

TEST_F(FallbackTest, reports_both_errors_if_the_cpu_fails_too) {
  gpu_.start_capacity = 0;
  const auto tasks = make_tasks(4);
  cpu_.on_finish = [&](Task& task) {
    if (&task == tasks[1]) throw std::bad_alloc();
    if (&task == tasks[2]) task.error = "did not converge";
  };
  compute(tasks);
  expect_computed({tasks[0], tasks[3]}, kCpu);
  EXPECT_EQ(tasks[1]->reason, FailureReason::out_of_memory);
  EXPECT_NE(tasks[1]->error.find("cudaMalloc failed"), std::string::npos) << tasks[1]->error;
  EXPECT_NE(tasks[1]->error.find("CPU"), std::string::npos) << tasks[1]->error;
  EXPECT_EQ(tasks[2]->reason, FailureReason::not_converged);
  EXPECT_NE(tasks[2]->error.find("cudaMalloc failed"), std::string::npos) << tasks[2]->error;
  EXPECT_NE(tasks[2]->error.find("did not converge"), std::string::npos) << tasks[2]->error;
}

TEST_F(FallbackTest, names_the_kind_of_memory_in_the_error_of_an_image) {
  gpu_.start_capacity = 0;
  gpu_.memory = MemoryKind::pinned_host;
  cpu_.on_finish = [](Task& task) { task.error = "did not converge"; };
  const auto tasks = make_tasks(1);
  compute(tasks);
  EXPECT_EQ(tasks[0]->error,
            "not enough pinned host memory (cudaMalloc failed); the CPU fallback also failed: did "
            "not converge");
}

TEST_F(FallbackTest, names_the_cause_if_there_is_no_memory_for_a_lane) {
  gpu_.has_lane_memory = false;
  lane_ = backend_->make_lane(1);
  cpu_.on_finish = [](Task& task) { task.error = "did not converge"; };
  const auto tasks = make_tasks(1);
  compute(tasks);
  EXPECT_EQ(tasks[0]->error,
            "not enough GPU memory (cudaMalloc failed for a lane); the CPU fallback also failed: "
            "did not converge");
}

TEST_F(FallbackTest, reports_only_the_error_of_the_cpu_for_an_image_that_must_not_use_the_gpu) {
  const auto tasks = make_tasks(1);
  tasks[0]->is_cpu_only = true;
  cpu_.on_finish = [](Task& task) { task.error = "did not converge"; };
  compute(tasks);
  EXPECT_EQ(tasks[0]->error,
            "the GPU is not used for this image, and the CPU failed: did not converge");
  EXPECT_EQ(tasks[0]->reason, FailureReason::not_converged);

  cpu_.on_finish = [](Task&) { throw std::runtime_error("broken"); };
  compute(tasks);
  EXPECT_EQ(tasks[0]->error, "the GPU is not used for this image, and the CPU failed: broken");
  EXPECT_EQ(tasks[0]->reason, FailureReason::compute_failed);
}

TEST_F(FallbackTest, computes_marked_images_on_the_cpu_and_the_others_of_the_batch_on_the_gpu) {
  const auto tasks = make_tasks(4);
  const std::vector<Task*> marked{tasks[1], tasks[3]}, others{tasks[0], tasks[2]};
  for (Task* task : marked) task->is_cpu_only = true;
  compute(tasks);
  expect_computed(others, kGpu);
  EXPECT_EQ(gpu_.started, Planes{2});
  expect_computed(marked, kCpu);
  EXPECT_EQ(backend_->fallback_counts().oom_splits, 0);
  EXPECT_EQ(backend_->fallback_counts().cpu_fallback_images, 0);
}

TEST_F(FallbackTest, decomposes_on_the_gpu_for_factors_and_uses_known_ones_on_the_cpu) {
  const auto tasks = make_tasks(2);
  tasks[0]->min_factor_rank = 0;
  tasks[1]->known_factors.resize(1);
  compute(tasks);
  expect_computed({tasks[0]}, kGpu);
  expect_computed({tasks[1]}, kCpu);
}

TEST_F(FallbackTest, propagates_a_fatal_error_if_no_cpu_backend_can_be_made) {
  gpu_.start_capacity = 2;
  make_cpu_ = []() -> std::unique_ptr<Backend> {
    throw FatalError(ExitCode::temporary, "no address space");
  };
  const auto large = make_tasks(1, 3), cpu_only = make_tasks(1);
  cpu_only[0]->is_cpu_only = true;
  EXPECT_THROW(compute(large), FatalError);
  EXPECT_EQ(large[0]->error, "") << "the image is not to blame";
  EXPECT_THROW(compute(cpu_only), FatalError);
}

TEST_F(FallbackTest, fails_only_one_part_of_a_split_batch) {
  gpu_.start_capacity = 2;
  const auto tasks = make_tasks(4);
  gpu_.on_finish = [&](Task& task) {
    if (&task == tasks[0]) throw std::runtime_error("broken");
  };
  compute(tasks);
  for (const Task* task : {tasks[0], tasks[1]}) {
    EXPECT_EQ(task->error, "broken");
    EXPECT_EQ(task->reason, FailureReason::compute_failed);
  }
  expect_computed({tasks[2], tasks[3]}, kGpu);
}

TEST_F(FallbackTest, propagates_other_batch_failures_and_fatal_errors) {
  gpu_.on_finish = [](Task&) { throw std::runtime_error("broken"); };
  EXPECT_THROW(compute(make_tasks(4)), std::runtime_error);
  gpu_.on_finish = [](Task&) { throw FatalError(ExitCode::temporary, "lost"); };
  gpu_.start_capacity = 2;
  EXPECT_THROW(compute(make_tasks(4)), FatalError);
}

TEST_F(FallbackTest, computes_on_the_cpu_until_memory_for_a_lane_is_free) {
  gpu_.has_lane_memory = false;
  lane_ = backend_->make_lane(1);
  const auto without = make_tasks(3), with = make_tasks(3);
  compute(without);
  expect_computed(without, kCpu);
  gpu_.has_lane_memory = true;
  compute(with);
  expect_computed(with, kGpu);
}

/// A CPU backend with one lane, for example with an OpenBLAS without locks.
TEST(Fallback, uses_a_lane_of_the_cpu_backend_on_one_thread_at_a_time) {
  static std::atomic<int> inside, overlaps;
  inside = overlaps = 0;
  struct OneLane : Backend, Lane {
    std::string name() const override { return "one"; }
    std::string description() const override { return name(); }
    int lanes() const override { return 1; }
    int batch_planes(const BatchKey&) const override { return 1; }
    std::unique_ptr<Lane> make_lane(int) override { return std::make_unique<OneLane>(); }
    int slots() const override { return 1; }
    void start(int, const BatchKey&, std::span<Task* const>) override {
      overlaps += ++inside > 1;
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      --inside;
    }
    void finish(int) override {}
  };
  BackendScript gpu{.has_lane_memory = false};
  const auto backend = make_fallback_backend(
      std::make_unique<ScriptedBackend>(gpu), [] { return std::make_unique<OneLane>(); },
      [](const std::string&) {});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&backend, i] {
      const auto lane = backend->make_lane(i);
      Task task;
      Task* const batch[] = {&task};
      for (int round = 0; round < 100; ++round) lane->start(0, kKey, batch);
    });
  }
  threads.clear();
  EXPECT_EQ(overlaps, 0);
}

TEST_F(FallbackTest, passes_the_stop_token_to_gpu_and_cpu_lanes) {
  std::stop_source stop;
  gpu_.start_capacity = 1;  // planes, so that an image of three goes to the CPU
  lane_->set_stop_token(stop.get_token());
  const std::vector<Task*> on_gpu = make_tasks(1), on_cpu = make_tasks(1, 3);
  compute(on_gpu);
  compute(on_cpu);
  EXPECT_FALSE(on_gpu[0]->is_canceled);
  EXPECT_FALSE(on_cpu[0]->is_canceled);
  stop.request_stop();
  compute(on_gpu);
  compute(on_cpu);
  EXPECT_TRUE(on_gpu[0]->is_canceled);
  EXPECT_TRUE(on_cpu[0]->is_canceled);
}

TEST_F(FallbackTest, passes_the_stop_token_to_a_lane_that_is_created_later) {
  gpu_.has_lane_memory = false;
  lane_ = backend_->make_lane(1);
  std::stop_source stop;
  lane_->set_stop_token(stop.get_token());
  stop.request_stop();
  gpu_.has_lane_memory = true;
  const std::vector<Task*> tasks = make_tasks(1);
  compute(tasks);
  EXPECT_TRUE(tasks[0]->is_canceled);
}

TEST_F(FallbackTest, answers_as_the_gpu_backend) {
  struct NoResizer : preparation::Resizer {
    std::optional<Image> try_resize(const Image&, int, int) override { return std::nullopt; }
  } resizer;
  gpu_.resizer = &resizer;
  gpu_.warnings = {"of the GPU"};
  gpu_.start_capacity = 2;
  EXPECT_EQ(backend_->name(), "fake");
  EXPECT_EQ(backend_->description(), "for tests");
  EXPECT_EQ(backend_->device_name(), "the device");
  EXPECT_EQ(backend_->details(), std::vector<std::string>{"a detail"});
  EXPECT_EQ(backend_->gpu_bus_ids(), std::vector<std::string>{"0000:01:00.0"});
  EXPECT_EQ(backend_->lanes(), 2);
  EXPECT_EQ(backend_->resizer(), &resizer);
  EXPECT_EQ(backend_->solver_choices().at(0).explanation, "it is fake");
  EXPECT_EQ(backend_->decoding_rate(ImageFormat::jpeg, {40, 9, 1, Depth::u8}).max_images, 41);
  EXPECT_EQ(lane_->slots(), 2);
  EXPECT_EQ(lane_->take_spans().size(), 3u);
  compute(make_tasks(1, 3));
  EXPECT_EQ(backend_->warnings(),
            (std::vector<std::string>{"of the GPU",
                                      "not enough GPU memory: 1 image was computed on the CPU"}));
  backend_->make_gpu_lane(6);
  EXPECT_EQ(gpu_.gpu_lanes, std::vector{6});
}

}  // namespace
}  // namespace eckart::compute
