// Injects each CUDA error at each CUDA call of the backend. No wrong result may be returned, and
// the error must be classified correctly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "compute/cuda/cuda_backend.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"
#include "synth/synth.hpp"
#include "tests/backend/cuda/faults/cuda_faults.hpp"
#include "tests/backend/cuda/gpu_unavailable_message.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr int kSlots = 2;
constexpr int kRank = 5;

std::vector<Task> make_tasks() {
  std::vector<Task> tasks(3);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const int channels = i == 2 ? 3 : 1;
    tasks[i].input =
        synth::synthesize({.kind = i == 0 ? synth::SynthKind::noise : synth::SynthKind::texture,
                           .rows = 96,
                           .cols = 64,
                           .channels = channels,
                           .seed = i});
    tasks[i].ranks = {kRank};
    tasks[i].outputs.emplace_back(tasks[i].input.shape());
    tasks[i].results.emplace_back(std::size_t(channels));
  }
  return tasks;
}

constexpr cudaError_t kDeviceLostErrors[] = {cudaErrorECCUncorrectable,
                                             cudaErrorNvlinkUncorrectable,
                                             cudaErrorIllegalAddress,
                                             cudaErrorLaunchTimeout,
                                             cudaErrorAssert,
                                             cudaErrorHardwareStackError,
                                             cudaErrorIllegalInstruction,
                                             cudaErrorMisalignedAddress,
                                             cudaErrorInvalidAddressSpace,
                                             cudaErrorInvalidPc,
                                             cudaErrorLaunchFailure,
                                             cudaErrorDevicesUnavailable,
                                             cudaErrorNoDevice,
                                             cudaErrorUnknown};

enum class ComputeEnd { done, out_of_memory, failed, device_lost, unavailable };

/// Computes two batches in the two slots of a lane. Their tasks are in `batches`.
ComputeEnd compute(SolverKind solver, std::vector<std::vector<Task>>& batches) {
  batches.clear();
  for (int slot = 0; slot < kSlots; ++slot) batches.push_back(make_tasks());
  try {
    const auto backend = make_cuda_backend({.solver = solver,
                                            .deterministic = true,
                                            .lanes = 1,
                                            .batch_planes = 5,
                                            .devices = {},
                                            .trace = true});
    const auto lane = backend->make_lane(0);
    const BatchKey key = batch_key(batches[0][0], 32);
    for (int slot = 0; slot < kSlots; ++slot) {
      std::vector<Task*> tasks;
      for (Task& task : batches[std::size_t(slot)]) tasks.push_back(&task);
      lane->start(slot, key, tasks);
    }
    for (int slot = 0; slot < kSlots; ++slot) lane->finish(slot);
    return ComputeEnd::done;
  } catch (const DeviceLostError&) {
    return ComputeEnd::device_lost;
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable) << error.what();
    return ComputeEnd::unavailable;
  } catch (const OutOfMemory&) {
    return ComputeEnd::out_of_memory;
  } catch (const std::runtime_error&) {
    return ComputeEnd::failed;
  }
}

void expect_same(const std::vector<std::vector<Task>>& batches,
                 const std::vector<std::vector<Task>>& expected) {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    for (std::size_t i = 0; i < batches[b].size(); ++i) {
      const Image &image = batches[b][i].outputs[0], &right = expected[b][i].outputs[0];
      EXPECT_EQ(std::memcmp(image.data(), right.data(), right.bytes()), 0) << b << ", " << i;
      EXPECT_EQ(batches[b][i].error, expected[b][i].error);
    }
  }
}

class CudaFaultTest : public ::testing::TestWithParam<SolverKind> {
 protected:
  void SetUp() override {
    if (const std::string message = gpu_unavailable_message(); !message.empty())
      GTEST_SKIP() << message;
    arm_fault({});
    ASSERT_EQ(compute(GetParam(), expected_), ComputeEnd::done);
    calls_ = cuda_call_count();
  }
  void TearDown() override { arm_fault({}); }

  /// Injects `fault` at each call in turn, and then computes without a fault.
  void expect_at_each_call(CudaFault fault, const std::vector<ComputeEnd>& allowed) {
    SCOPED_TRACE(cudaGetErrorName(fault.error));
    std::vector<std::vector<Task>> batches;
    for (fault.first = 1; fault.first <= calls_; ++fault.first) {
      SCOPED_TRACE(::testing::Message() << "call " << fault.first << " of " << calls_);
      arm_fault(fault);
      const ComputeEnd end = compute(GetParam(), batches);
      if (end == ComputeEnd::done) expect_same(batches, expected_);
      EXPECT_TRUE(end == ComputeEnd::done ||
                  std::find(allowed.begin(), allowed.end(), end) != allowed.end())
          << int(end);
    }
    arm_fault({});
    EXPECT_EQ(compute(GetParam(), batches), ComputeEnd::done);
    expect_same(batches, expected_);
  }

  long calls_ = 0;
  std::vector<std::vector<Task>> expected_;
};

TEST_P(CudaFaultTest, is_reported_as_lost_device_after_a_context_error) {
  for (const cudaError_t error : kDeviceLostErrors)
    expect_at_each_call({.error = error, .is_permanent = true},
                        {ComputeEnd::device_lost, ComputeEnd::unavailable});
}

TEST_P(CudaFaultTest, fails_one_batch_after_a_transient_error) {
  for (const cudaError_t error : {cudaErrorInvalidValue, cudaErrorNotSupported, cudaErrorUnknown})
    expect_at_each_call({.error = error},
                        {ComputeEnd::failed, ComputeEnd::device_lost, ComputeEnd::unavailable});
}

TEST_P(CudaFaultTest, is_reported_as_out_of_memory_after_a_failed_allocation) {
  expect_at_each_call({.error = cudaErrorMemoryAllocation},
                      {ComputeEnd::out_of_memory, ComputeEnd::unavailable});
}

INSTANTIATE_TEST_SUITE_P(Solver, CudaFaultTest,
                         ::testing::Values(SolverKind::subspace, SolverKind::gram,
                                           SolverKind::gesvd, SolverKind::gesvdj),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace eckart::compute::cuda
