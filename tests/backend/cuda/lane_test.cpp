// Which CUDA calls a lane makes, in which order, and what it does if a solver fails or memory runs
// out. Uses fake/fake_cuda.hpp, so no GPU is needed.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute/cuda/cuda_backend.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/out_of_memory.hpp"
#include "tests/backend/cuda/fake/fake_cuda.hpp"

namespace eckart::compute::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr int kRank = 5;
constexpr int kBatchPlanes = 64;
const std::vector<std::string> kAllocations = {"cudaMalloc",       "cudaFree",
                                               "cudaHostAlloc",    "cudaFreeHost",
                                               "cudaHostRegister", "cudaHostUnregister"};
const std::vector<std::string> kWaits = {"cudaStreamSynchronize", "cudaDeviceSynchronize",
                                         "cudaEventSynchronize"};

std::vector<Task> make_tasks(int count) {
  std::vector<Task> tasks(static_cast<std::size_t>(count));
  for (Task& task : tasks) {
    task.input = Image({96, 64, 1, Depth::u8});
    task.ranks = {kRank};
    task.outputs.emplace_back(task.input.shape());
    task.results.emplace_back(1);
  }
  return tasks;
}

/// The elements of `all` that are in `names`.
std::vector<std::string> only(const std::vector<std::string>& all,
                              const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : all) {
    if (std::find(names.begin(), names.end(), name) != names.end()) found.push_back(name);
  }
  return found;
}

class LaneTest : public ::testing::Test {
 protected:
  void SetUp() override { FakeCuda::reset(); }

  void make_lane(const BackendOptions& options) {
    lane_.reset();
    backend_ = make_cuda_backend(options);
    lane_ = backend_->make_lane(0);
    FakeCuda::take_calls();
  }
  static BackendOptions with(SolverKind solver, bool deterministic = false) {
    return {.solver = solver,
            .deterministic = deterministic,
            .lanes = 1,
            .batch_planes = kBatchPlanes,
            .devices = {}};
  }

  void start(int slot, std::vector<Task>& tasks) {
    std::vector<Task*> batch;
    for (Task& task : tasks) batch.push_back(&task);
    lane_->start(slot, batch_key(tasks.front(), 32), batch);
  }
  void compute(std::vector<Task>& tasks) {
    start(0, tasks);
    lane_->finish(0);
  }

  /// Calls since the last take_calls().
  static int count_calls(const std::string& name) {
    const auto calls = FakeCuda::take_calls();
    return int(std::count(calls.begin(), calls.end(), name));
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Lane> lane_;
};

TEST_F(LaneTest, allocates_nothing_and_waits_once_in_later_batches) {
  for (const SolverKind solver : {SolverKind::subspace, SolverKind::gram, SolverKind::gesvd}) {
    SCOPED_TRACE(to_string(solver));
    make_lane(with(solver));
    std::vector<Task> first = make_tasks(kBatchPlanes), second = make_tasks(kBatchPlanes),
                      third = make_tasks(kBatchPlanes);
    start(0, first);
    start(1, second);
    lane_->finish(0);
    FakeCuda::take_calls();

    start(0, third);
    const auto started = FakeCuda::take_calls();
    EXPECT_THAT(only(started, kAllocations), ElementsAre());
    EXPECT_THAT(only(started, kWaits), ElementsAre());
    EXPECT_EQ(std::count(started.begin(), started.end(), "cudaMemcpyAsync"), 6)
        << "layouts and pixels in; errors, values, convergence and pixels out";
    lane_->finish(1);
    EXPECT_THAT(FakeCuda::take_calls(), ElementsAre("cudaEventSynchronize"));
    lane_->finish(0);
  }
}

TEST_F(LaneTest, copies_factors_out_only_if_they_are_wanted) {
  for (const SolverKind solver : {SolverKind::subspace, SolverKind::gram, SolverKind::gesvd}) {
    SCOPED_TRACE(to_string(solver));
    make_lane(with(solver));
    std::vector<Task> tasks = make_tasks(3), with_factors = make_tasks(3);
    for (Task& task : with_factors) task.min_factor_rank = 0;
    compute(tasks);
    compute(with_factors);
    FakeCuda::take_calls();
    start(0, with_factors);
    const auto started = FakeCuda::take_calls();
    EXPECT_THAT(only(started, kAllocations), ElementsAre());
    EXPECT_THAT(only(started, kWaits), ElementsAre());
    lane_->finish(0);
    EXPECT_THAT(FakeCuda::take_calls(), ElementsAre("cudaEventSynchronize"));
    compute(tasks);
    const auto plain = FakeCuda::take_calls();
    const int kernels = solver == SolverKind::subspace ? 2 : 1;
    for (const auto& [call, more] : {std::pair("kernel", kernels), std::pair("cudaMemcpyAsync", 1)})
      EXPECT_EQ(std::ranges::count(started, call), std::ranges::count(plain, call) + more) << call;
    for (const Task& task : tasks) EXPECT_TRUE(task.factors.empty());
    for (const Task& task : with_factors) {
      EXPECT_EQ(task.error, "");
      ASSERT_EQ(task.factors.size(), 1U);
      EXPECT_EQ(task.factors[0].rank(), kRank);
      EXPECT_EQ(task.factors[0].u.size(), std::size_t(96 * kRank));
    }
  }
}

TEST_F(LaneTest, gives_factors_above_the_rank_of_the_outputs) {
  make_lane(with(SolverKind::automatic));
  std::vector<Task> tasks = make_tasks(6);
  for (Task& task : tasks) task.min_factor_rank = 64;
  for (const bool has_outputs : {true, false}) {
    for (Task& task : tasks) {
      task.factors.clear();
      if (has_outputs) continue;
      task.ranks.clear();
      task.outputs.clear();
      task.results.clear();
    }
    compute(tasks);
    EXPECT_EQ(count_calls("cusolverDnXsyevBatched"), 1) << "a complete decomposition";
    for (const Task& task : tasks) {
      EXPECT_EQ(task.error, "");
      ASSERT_EQ(task.factors.size(), 1U);
      EXPECT_EQ(task.factors[0].rank(), 64);
    }
  }
}

TEST_F(LaneTest, gives_factors_of_recomputed_planes) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(kBatchPlanes);
  for (Task& task : tasks) task.min_factor_rank = 0;
  FakeCuda::fail_planes_until("cusolverDnXsyevBatched");
  compute(tasks);
  for (const Task& task : tasks) {
    EXPECT_EQ(task.error, "");
    EXPECT_TRUE(task.results[0][0].is_recomputed);
    ASSERT_EQ(task.factors.size(), 1U);
    EXPECT_EQ(task.factors[0].s, std::vector<double>(kRank, 0));
  }
}

/// Copy in, an event that computation waits for, computation, an event that the copy out waits for.
TEST_F(LaneTest, queues_copies_and_computation_in_order) {
  make_lane(with(SolverKind::gesvd));
  std::vector<Task> tasks = make_tasks(1);
  compute(tasks);
  FakeCuda::take_calls();
  start(0, tasks);
  EXPECT_THAT(FakeCuda::take_calls(),
              ElementsAre("cudaMemcpyAsync", "cudaMemcpyAsync", "cudaEventRecord",
                          "cudaStreamWaitEvent",          // in
                          "cusolverDnDgesvd_bufferSize",  // workspace
                          "kernel",                       // unpack
                          "cusolverDnDgesvd_bufferSize", "cublasDgeam", "cusolverDnDgesvd",
                          "cublasDgeam", "cublasDgemmStridedBatched",  // factor
                          "kernel",                                    // reconstruct
                          "cudaEventRecord", "cudaStreamWaitEvent", "cudaMemcpyAsync",
                          "cudaMemcpyAsync", "cudaMemcpyAsync", "cudaEventRecord",  // results out
                          "cudaMemcpyAsync", "cudaEventRecord"));                   // pixels out
  lane_->finish(0);
}

TEST_F(LaneTest, does_not_recompute_certified_planes) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(3);
  compute(tasks);
  for (const Task& task : tasks) {
    EXPECT_EQ(task.error, "");
    EXPECT_FALSE(task.results[0][0].is_recomputed);
  }
  EXPECT_THAT(FakeCuda::take_calls(), Not(Contains("cusolverDnXsyevBatched")));
}

TEST_F(LaneTest, recomputes_uncertified_planes_until_a_solver_certifies_them) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(3);
  FakeCuda::fail_planes_until("cusolverDnXsyevBatched");
  compute(tasks);
  for (const Task& task : tasks) {
    EXPECT_EQ(task.error, "");
    EXPECT_TRUE(task.results[0][0].is_recomputed);
  }
  EXPECT_THAT(FakeCuda::take_calls(), Not(Contains("cusolverDnDgesvd"))) << "gesvd is not needed";
}

TEST_F(LaneTest, fails_planes_that_no_solver_certifies) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(3);
  FakeCuda::fail_planes_until("never");
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "channel 0: the solver did not converge");
  const auto calls = FakeCuda::take_calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cusolverDnXsyevBatched"), 2)
      << "subspace in float64 and gram";
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cusolverDnDgesvd"), 3) << "each plane once";

  std::vector<Task> later = make_tasks(3);
  FakeCuda::reset();
  compute(later);
  for (const Task& task : later) EXPECT_EQ(task.error, "") << "the lane remains usable";
}

TEST_F(LaneTest, recomputes_an_eighth_of_a_batch_at_a_time) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(kBatchPlanes);
  FakeCuda::fail_planes_until("never");
  compute(tasks);
  EXPECT_EQ(count_calls("cudaEventSynchronize"), 1 + 3 * 8)
      << "after the whole batch, and after each part by each of three solvers";
}

TEST_F(LaneTest, passes_deterministic_planes_to_gesvd_one_by_one) {
  make_lane(with(SolverKind::subspace, true));
  std::vector<Task> tasks = make_tasks(4);
  FakeCuda::fail_planes_until("never");
  compute(tasks);
  const auto calls = FakeCuda::take_calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cudaEventSynchronize"), 1 + 1 + 1 + 4);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cusolverDnDgesvd"), 4) << "no empty planes";
}

TEST_F(LaneTest, retries_a_batch_that_does_not_fit_with_less_memory) {
  make_lane(with(SolverKind::gram));
  const std::size_t lane_bytes = FakeCuda::used_memory();
  std::vector<Task> tasks =
      make_tasks(8);  // not a small batch, so memory for a full one is reserved
  compute(tasks);
  const std::size_t batch_bytes = FakeCuda::used_memory() - lane_bytes;

  make_lane(with(SolverKind::gram));
  FakeCuda::limit_memory(lane_bytes + batch_bytes / 2);
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "");
  EXPECT_LE(FakeCuda::used_memory(), lane_bytes + batch_bytes / 2);
  EXPECT_GT(count_calls("cudaFree"), 0);
  compute(tasks);
  EXPECT_THAT(only(FakeCuda::take_calls(), kAllocations), ElementsAre())
      << "the smaller capacity is remembered";
}

TEST_F(LaneTest, continues_after_a_batch_that_never_fits_is_out_of_memory) {
  make_lane(with(SolverKind::gram));
  const std::size_t lane_bytes = FakeCuda::used_memory();
  std::vector<Task> tasks = make_tasks(8);
  FakeCuda::limit_memory(lane_bytes + 1000);
  try {
    compute(tasks);
    ADD_FAILURE() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(), ::testing::ContainsRegex("src/compute/cuda/slot.cpp:[0-9]+: [0-9]+ "
                                                       "bytes of device memory requested"));
  }
  EXPECT_EQ(FakeCuda::used_memory(), lane_bytes) << "all memory of the batch is freed";
  FakeCuda::reset();
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "");
}

TEST_F(LaneTest, reports_pinned_memory_as_the_kind_that_ran_out) {
  make_lane(with(SolverKind::gram));
  std::vector<Task> tasks = make_tasks(8);
  FakeCuda::fail_calls("cudaHostAlloc", cudaErrorMemoryAllocation);
  try {
    compute(tasks);
    ADD_FAILURE() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.kind(), MemoryKind::pinned_host);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("bytes of pinned host memory requested"));
  }
  FakeCuda::reset();
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "") << "the lane remains usable";
}

TEST_F(LaneTest, encodes_outputs_after_a_batch_that_failed_before_it_was_encoded) {
  make_lane(with(SolverKind::gram));
  std::vector<Task> tasks = make_tasks(2);
  for (Task& task : tasks) task.encoding.emplace();
  FakeCuda::fail_calls("cublasDgemmStridedBatched", CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_THROW(compute(tasks), std::runtime_error);
  EXPECT_THROW(compute(tasks), std::runtime_error);
  FakeCuda::reset();
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "");
}

/// Planes of 96 x 64 at rank 5: the errors of libraries name the sizes of the failing call.
TEST_F(LaneTest, names_the_sizes_of_a_failing_library_call) {
  const struct {
    SolverKind solver;
    const char* call;
    int status;
    const char* sizes;
  } cases[] = {
      {SolverKind::subspace, "cublasGemmStridedBatchedEx", CUBLAS_STATUS_INVALID_VALUE,
       ": m 96, n 48, inner dimension 64, batch count 8"},
      {SolverKind::gram, "cublasDgemmStridedBatched", CUBLAS_STATUS_INVALID_VALUE,
       ": m 64, n 64, inner dimension 96, batch count 8"},
      {SolverKind::gram, "cusolverDnXsyevBatched", CUSOLVER_STATUS_INVALID_VALUE,
       ": m 64, n 64, batch count 8"},
      {SolverKind::gesvd, "cusolverDnDgesvd", CUSOLVER_STATUS_INVALID_VALUE,
       ": m 96, n 64, batch count 1"},
      {SolverKind::gesvd, "cublasDgeam", CUBLAS_STATUS_INVALID_VALUE,
       ": m 96, n 64, batch count 1"},
      {SolverKind::gesvdj, "cusolverDnDgesvdj", CUSOLVER_STATUS_INVALID_VALUE,
       ": m 64, n 96, batch count 1"},
  };
  for (const auto& [solver, call, status, sizes] : cases) {
    SCOPED_TRACE(call);
    make_lane(with(solver));
    std::vector<Task> tasks = make_tasks(8);
    FakeCuda::fail_calls(call, status);
    try {
      compute(tasks);
      ADD_FAILURE() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string(" from ") + call + "("));
      EXPECT_THAT(error.what(), ::testing::EndsWith(sizes));
    }
    FakeCuda::reset();
  }
}

/// There is memory for a small batch in float16, but not for float64.
TEST_F(LaneTest, halves_recomputed_parts_when_memory_runs_out) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(3);
  FakeCuda::fail_planes_until("never");
  start(0, tasks);
  FakeCuda::limit_memory(FakeCuda::used_memory());
  lane_->finish(0);
  for (const Task& task : tasks)
    EXPECT_EQ(task.error, "channel 0: the solver did not converge") << "not out of memory";
  EXPECT_GT(count_calls("cudaEventSynchronize"), 1 + 3) << "in several parts";
}

TEST_F(LaneTest, continues_after_recompute_is_out_of_memory_for_one_plane) {
  make_lane(with(SolverKind::subspace));
  std::vector<Task> tasks = make_tasks(3);
  FakeCuda::fail_planes_until("never");
  start(0, tasks);
  FakeCuda::limit_memory(0);
  EXPECT_THROW(lane_->finish(0), OutOfMemory);
  FakeCuda::reset();
  compute(tasks);
  for (const Task& task : tasks) EXPECT_EQ(task.error, "");
}

}  // namespace
}  // namespace eckart::compute::cuda
