// How CUDA errors are classified, and their messages. The linker replaces the CUDA functions with
// those below (--wrap), so no GPU is needed.
#include "compute/cuda/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "compute/cuda/raii.hpp"
#include "compute/out_of_memory.hpp"
#include "core/error.hpp"

namespace eckart::compute::cuda {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The return values of the wrapped functions.
struct FakeRuntime {
  cudaError_t create = cudaSuccess;       ///< creating handles and allocating memory
  cudaError_t last = cudaSuccess;         ///< cudaGetLastError(), once
  cudaError_t context = cudaSuccess;      ///< cudaDeviceSynchronize()
  cudaError_t memory_info = cudaSuccess;  ///< cudaMemGetInfo()
  std::size_t free = std::size_t(1) << 30, total = std::size_t(1) << 34;
};
FakeRuntime runtime;

template <class Error, class Step>
std::string message_of(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::string here(int line) {
  return "at tests/backend/cuda/check_test.cpp:" + std::to_string(line);
}

class CudaCheckTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime = {}; }
};

TEST_F(CudaCheckTest, is_silent_on_success) {
  check(cudaSuccess, "call");
  check(CUBLAS_STATUS_SUCCESS, "call");
  check(CUSOLVER_STATUS_SUCCESS, "call");
  check_batch(CUBLAS_STATUS_SUCCESS, "call", {1, 1, 1});
  check_batch(CUSOLVER_STATUS_SUCCESS, "call", {1, 1, 1});
  check_copy(cudaSuccess, "call", 1);
  check_device_allocation(cudaSuccess, "call", 1);
  check_launch("kernel", 1, 1);
}

TEST_F(CudaCheckTest, names_error_call_file_and_line) {
  const std::string message =
      message_of<std::runtime_error>([] { ECKART_CUDA_CHECK(cudaError_t(cudaErrorInvalidValue)); });
  EXPECT_EQ(message, "CUDA error 1 (invalid argument) from cudaError_t(cudaErrorInvalidValue) " +
                         here(__LINE__ - 2));
}

TEST_F(CudaCheckTest, names_the_path_from_the_source_folder_on_in_any_build) {
  for (const char* path :
       {"src/compute/cuda/slot.cpp", "../../src/compute/cuda/slot.cpp",
        "/build/src/compute/cuda/slot.cpp", "/usr/src/eckart/src/compute/cuda/slot.cpp",
        "/home/tests/eckart/src/compute/cuda/slot.cpp"}) {
    const std::string message = message_of<std::runtime_error>([&] {
      check(cudaErrorInvalidValue, "call", CallSite{path, 48});
    });
    EXPECT_THAT(message, EndsWith(" at src/compute/cuda/slot.cpp:48")) << path;
  }
}

TEST_F(CudaCheckTest, names_the_size_of_a_copy) {
  const std::string message = message_of<std::runtime_error>(
      [] { ECKART_CUDA_CHECK_COPY(cudaError_t(cudaErrorInvalidValue), 4096); });
  EXPECT_THAT(message, EndsWith(here(__LINE__ - 1) + ": 4096 bytes"));
}

TEST_F(CudaCheckTest, names_requested_and_free_bytes_and_caller_of_a_device_allocation) {
  runtime.create = cudaErrorMemoryAllocation;
  runtime.free = 1000;
  runtime.total = 2000;
  DeviceBuffer buffer;
  const std::string message = message_of<OutOfMemory>([&] { buffer.reserve(123456); });
  EXPECT_EQ(message, "CUDA error 2 (out of memory) from cudaMalloc " + here(__LINE__ - 1) +
                         ": 123456 bytes of device memory requested; 1000 of 2000 bytes of device "
                         "memory free");
  EXPECT_EQ(buffer.bytes(), 0U);
}

TEST_F(CudaCheckTest, does_not_name_device_memory_for_a_pinned_allocation) {
  runtime.create = cudaErrorMemoryAllocation;
  PinnedBuffer buffer;
  const std::string message = message_of<OutOfMemory>([&] { buffer.reserve(123456); });
  EXPECT_EQ(message, "CUDA error 2 (out of memory) from cudaHostAlloc " + here(__LINE__ - 1) +
                         ": 123456 bytes of pinned host memory requested");
}

TEST_F(CudaCheckTest, distinguishes_device_memory_from_pinned_memory) {
  runtime.create = cudaErrorMemoryAllocation;
  const auto kind_of = [](auto&& step) {
    try {
      step();
    } catch (const OutOfMemory& error) {
      return error.kind();
    }
    throw std::logic_error("no error");
  };
  DeviceBuffer device;
  PinnedBuffer pinned;
  EXPECT_EQ(kind_of([&] { device.reserve(1); }), MemoryKind::gpu);
  EXPECT_EQ(kind_of([&] { pinned.reserve(1); }), MemoryKind::pinned_host);
  EXPECT_EQ(kind_of([] { check(CUBLAS_STATUS_ALLOC_FAILED, "call"); }), MemoryKind::gpu);
}

TEST_F(CudaCheckTest, names_the_free_memory_for_any_call_that_lacks_device_memory) {
  runtime.free = 1000;
  runtime.total = 2000;
  const std::string free = "; 1000 of 2000 bytes of device memory free";
  EXPECT_THAT(message_of<OutOfMemory>([] { check(cudaErrorMemoryAllocation, "call"); }),
              EndsWith(free));
  EXPECT_THAT(message_of<OutOfMemory>([] { check(CUBLAS_STATUS_ALLOC_FAILED, "call"); }),
              EndsWith(free));
  EXPECT_THAT(message_of<OutOfMemory>([] { check(CUSOLVER_STATUS_ALLOC_FAILED, "call"); }),
              EndsWith(free));
}

TEST_F(CudaCheckTest, reports_free_memory_as_unknown_if_it_cannot_be_read) {
  runtime.memory_info = cudaErrorUnknown;
  EXPECT_THAT(message_of<OutOfMemory>([] { check(cudaErrorMemoryAllocation, "call"); }),
              EndsWith("; free device memory unknown"));
}

TEST_F(CudaCheckTest, names_the_function_that_creates_a_handle) {
  runtime.create = cudaErrorInvalidValue;
  const std::string message = message_of<std::runtime_error>(
      [] { ECKART_CUDA_HANDLE(Event, cudaEventCreateWithFlags, cudaEventDisableTiming); });
  EXPECT_THAT(message, EndsWith(" from cudaEventCreateWithFlags " + here(__LINE__ - 1)));
}

TEST_F(CudaCheckTest, names_kernel_grid_block_and_shared_memory_of_a_launch) {
  runtime.last = cudaErrorInvalidConfiguration;
  const std::string message = message_of<std::runtime_error>([] {
    check_launch("unpack_kernel", {4, 5, 70000}, {32, 8}, 49152);
  });
  EXPECT_THAT(message, StartsWith("CUDA error 9 ("));
  EXPECT_THAT(message,
              EndsWith("from launching unpack_kernel " + here(__LINE__ - 4) +
                       ": grid 4 x 5 x 70000, block 32 x 8 x 1, 49152 bytes of shared memory"));
}

TEST_F(CudaCheckTest, names_status_call_file_and_line_of_a_library) {
  const std::string blas = message_of<std::runtime_error>(
      [] { ECKART_CUDA_CHECK(cublasStatus_t(CUBLAS_STATUS_INVALID_VALUE)); });
  EXPECT_THAT(blas, StartsWith("CUBLAS_STATUS_INVALID_VALUE from cublasStatus_t("));
  EXPECT_THAT(blas, EndsWith(here(__LINE__ - 2)));
  const std::string solver = message_of<std::runtime_error>(
      [] { ECKART_CUDA_CHECK(cusolverStatus_t(CUSOLVER_STATUS_INVALID_VALUE)); });
  EXPECT_THAT(solver, StartsWith("cuSOLVER status 3 from cusolverStatus_t("));
  EXPECT_THAT(solver, EndsWith(here(__LINE__ - 2)));
}

TEST_F(CudaCheckTest, names_the_matrices_of_a_library_call) {
  const std::string blas_line = here(__LINE__ + 2);
  const auto fail_blas = [] {
    ECKART_CUDA_CHECK_BATCH(cublasStatus_t(CUBLAS_STATUS_INVALID_VALUE), 256, 32, 512, 128);
  };
  const std::string blas = message_of<std::runtime_error>(fail_blas);
  EXPECT_THAT(blas, StartsWith("CUBLAS_STATUS_INVALID_VALUE from cublasStatus_t("));
  EXPECT_THAT(blas, EndsWith(blas_line + ": m 256, n 32, inner dimension 128, batch count 512"));
  const std::string solver_line = here(__LINE__ + 1);
  const auto fail_solver = [] { check_batch(CUSOLVER_STATUS_INVALID_VALUE, "call", {64, 64, 7}); };
  EXPECT_THAT(message_of<std::runtime_error>(fail_solver),
              EndsWith(solver_line + ": m 64, n 64, batch count 7"));
  EXPECT_THAT(message_of<OutOfMemory>([] {
                check_batch(CUBLAS_STATUS_ALLOC_FAILED, "call", {64, 64, 7});
              }),
              HasSubstr(": m 64, n 64, batch count 7; "));
}

TEST_F(CudaCheckTest, reports_a_broken_context_as_a_lost_device) {
  message_of<DeviceLostError>([] { check(cudaErrorIllegalAddress, "call"); });
  message_of<std::runtime_error>([] { check(cudaErrorInvalidValue, "call"); });
  runtime.context = cudaErrorLaunchFailure;
  const std::string message =
      message_of<DeviceLostError>([] { check(cudaErrorInvalidValue, "call"); });
  EXPECT_THAT(message, Not(HasSubstr("memory")));
  message_of<DeviceLostError>([] { check(CUBLAS_STATUS_EXECUTION_FAILED, "call"); });
  message_of<DeviceLostError>([] { check(CUSOLVER_STATUS_ALLOC_FAILED, "call"); });
}

TEST_F(CudaCheckTest, reports_generic_library_error_as_out_of_memory_if_little_is_free) {
  message_of<std::runtime_error>([] { check(CUBLAS_STATUS_INTERNAL_ERROR, "call"); });
  runtime.free = std::size_t(1) << 20;
  message_of<OutOfMemory>([] { check(CUBLAS_STATUS_INTERNAL_ERROR, "call"); });
  message_of<OutOfMemory>([] { check(CUSOLVER_STATUS_EXECUTION_FAILED, "call"); });
  message_of<std::runtime_error>([] { check(CUBLAS_STATUS_INVALID_VALUE, "call"); });
}

}  // namespace
}  // namespace eckart::compute::cuda

extern "C" {
cudaError_t __wrap_cudaMalloc(void**, std::size_t) { return eckart::compute::cuda::runtime.create; }
cudaError_t __wrap_cudaHostAlloc(void**, std::size_t, unsigned) {
  return eckart::compute::cuda::runtime.create;
}
cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t __wrap_cudaEventCreateWithFlags(cudaEvent_t*, unsigned) {
  return eckart::compute::cuda::runtime.create;
}
cudaError_t __wrap_cudaDeviceSynchronize() { return eckart::compute::cuda::runtime.context; }
cudaError_t __wrap_cudaGetLastError() {
  return std::exchange(eckart::compute::cuda::runtime.last, cudaSuccess);
}
cudaError_t __wrap_cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = eckart::compute::cuda::runtime.free;
  *total = eckart::compute::cuda::runtime.total;
  return eckart::compute::cuda::runtime.memory_info;
}
}
