// The linker gives every call of wrapped_calls.inc to a wrapper of that name (--wrap).
//
// In a module, the environment says what fails: ECKART_CUDA_FAULT is WHAT:FIRST, WHAT an error's
// number, `trap` or `wild` (kernels that really end the context); only in the first process, but
// with ECKART_CUDA_FAULT_ALWAYS in each that follows on it as well. ECKART_CUDA_POISON_BYTE=BYTE,
// in hexadecimal: whatever brings kPoisonBytes of it to the GPU, one after the other, ends the
// context.
#include "tests/backend/cuda/faults/cuda_faults.hpp"

#include <cublas_v2.h>
#include <cusolverDn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace eckart::cuda {
namespace {

constexpr long kPoisonBytes = 256;

std::atomic<long> calls{0};
std::atomic<bool> lost{false};
std::atomic<int> launch_error{cudaSuccess};  // what cudaGetLastError() will say
CudaFault fault;
char kernel[8] = "";  // that a module launches in the place of an error
int poison_byte = -1;

struct EnvironmentFault {
  EnvironmentFault() {
    if (const char* byte = std::getenv("ECKART_CUDA_POISON_BYTE"))
      poison_byte = int(std::strtol(byte, nullptr, 16));
    const char* text = std::getenv("ECKART_CUDA_FAULT");
    if (!text || (std::getenv("ECKART_RESTARTS") && !std::getenv("ECKART_CUDA_FAULT_ALWAYS")))
      return;
    char what[8] = "";
    long first = 0;
    std::sscanf(text, "%7[a-z0-9]:%ld", what, &first);
    const int error = std::atoi(what);
    if (error == 0) std::strcpy(kernel, what);
    arm_fault({cudaError_t(error), first, true});
  }
} environment_fault;

/// Whether this call is to fail.
bool should_fail() {
  if (lost) return true;
  if (++calls != fault.first) return false;
  if (kernel[0] != 0) {
    std::strcmp(kernel, "trap") == 0 ? launch_trap(nullptr) : launch_wild_write(nullptr);
    return false;  // the context itself will say so
  }
  lost = fault.is_permanent;
  return true;
}

cudaError_t status(cudaError_t) { return fault.error; }
cublasStatus_t status(cublasStatus_t) {
  return fault.error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                                  : CUBLAS_STATUS_EXECUTION_FAILED;
}
cusolverStatus_t status(cusolverStatus_t) {
  return fault.error == cudaErrorMemoryAllocation ? CUSOLVER_STATUS_ALLOC_FAILED
                                                  : CUSOLVER_STATUS_EXECUTION_FAILED;
}

template <auto real>
struct Wrapper;
template <class Status, class... Args, Status (*real)(Args...)>
struct Wrapper<real> {
  static Status instead(Args... args) { return should_fail() ? status(Status{}) : real(args...); }
  static Status after(Args... args) {
    const bool failed = should_fail();
    const Status real_status = real(args...);
    return failed ? status(Status{}) : real_status;
  }
};

bool contains_poison(const void* bytes, std::size_t size) {
  if (poison_byte < 0) return false;
  const auto* begin = static_cast<const unsigned char*>(bytes);
  const auto* end = begin + size;
  return std::search_n(begin, end, kPoisonBytes, static_cast<unsigned char>(poison_byte)) != end;
}

}  // namespace

void arm_fault(const CudaFault& wanted) {
  fault = wanted;
  calls = 0;
  lost = false;
  launch_error = cudaSuccess;
}

long cuda_call_count() { return calls; }

}  // namespace eckart::cuda

using eckart::cuda::fault;
using eckart::cuda::launch_error;
using eckart::cuda::should_fail;
using eckart::cuda::Wrapper;

// The wrapper of a call by its name alone: the loader asks the resolver which function it is.
#define WRAP_BY(name, how)                                                                         \
  extern "C" {                                                                                     \
  decltype(name) __real_##name;                                                                    \
  static void* resolve_##name() { return reinterpret_cast<void*>(&Wrapper<&__real_##name>::how); } \
  decltype(name) __wrap_##name __attribute__((ifunc("resolve_" #name)));                           \
  }
#define WRAP(name) WRAP_BY(name, instead)
#define WRAP_AFTER(name) WRAP_BY(name, after)
#include "tests/backend/cuda/faults/wrapped_calls.inc"

// Those that are overloaded, or that more has to be said of.
extern "C" {

cublasStatus_t __real_cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t,
                                                 cublasOperation_t, int, int, int, const void*,
                                                 const void*, cudaDataType, int, long long,
                                                 const void*, cudaDataType, int, long long,
                                                 const void*, void*, cudaDataType, int, long long,
                                                 int, cublasComputeType_t, cublasGemmAlgo_t);
static void* resolve_gemm() {
  return reinterpret_cast<void*>(&Wrapper<&__real_cublasGemmStridedBatchedEx>::instead);
}
void __wrap_cublasGemmStridedBatchedEx() __attribute__((ifunc("resolve_gemm")));

cudaError_t __real_cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  if (should_fail()) return fault.error;
  if (kind == cudaMemcpyHostToDevice && eckart::cuda::contains_poison(from, size))
    eckart::cuda::launch_trap(stream);
  return __real_cudaMemcpyAsync(to, from, size, kind, stream);
}

/// What a launch returns is left to cudaGetLastError().
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared, cudaStream_t stream) {
  if (!should_fail())
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
  launch_error = fault.error;
  return fault.error;
}
cudaError_t __real_cudaGetLastError();
cudaError_t __wrap_cudaGetLastError() {
  const auto error = cudaError_t(launch_error.exchange(cudaSuccess));
  return error != cudaSuccess ? error : __real_cudaGetLastError();
}
cudaError_t __real_cudaPeekAtLastError();
cudaError_t __wrap_cudaPeekAtLastError() {
  const auto error = cudaError_t(launch_error.load());
  return error != cudaSuccess ? error : __real_cudaPeekAtLastError();
}
}
