// The linker redirects every call in wrapped_calls.inc to a function of this file (--wrap).
#include "tests/backend/cuda/fake/fake_cuda.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace eckart::compute::cuda {
namespace {

constexpr std::size_t kTotalBytes = std::size_t(8) << 30;

struct State {
  std::vector<std::string> calls;
  std::map<void*, std::size_t> memory;  // device memory
  std::size_t used = 0, limit = kTotalBytes;
  std::string failing_until;
  std::string failing_call;
  int failing_status = 0;
};
/// Never destroyed: handles of the last test are destroyed at the end of the program.
State& state() {
  static State* const all = new State;
  return *all;
}

int fill_byte() { return state().failing_until.empty() ? 0 : 0xFF; }
void fill_memory() {
  for (const auto& [memory, bytes] : state().memory) std::memset(memory, fill_byte(), bytes);
}

void record(const char* name) {
  state().calls.emplace_back(name);
  if (state().failing_until != name) return;
  state().failing_until.clear();
  fill_memory();
}

template <class Name, class Function>
struct Fake;
template <class Name, class Status, class... Args>
struct Fake<Name, Status (*)(Args...)> {
  static Status call(Args... args) {
    record(Name::value);
    if (state().failing_call == Name::value) return Status(state().failing_status);
    return Name::body(args...);
  }
};

/// What a call does besides being recorded. Most calls do nothing.
struct Nothing {
  template <class... Args>
  static auto body(Args...) {
    return AnySuccess();
  }
  struct AnySuccess {
    operator cudaError_t() const { return cudaSuccess; }
    operator cublasStatus_t() const { return CUBLAS_STATUS_SUCCESS; }
    operator cusolverStatus_t() const { return CUSOLVER_STATUS_SUCCESS; }
  };
};
template <class Name>
struct Body : Nothing {};

}  // namespace

void FakeCuda::reset() {
  state().calls.clear();
  state().limit = kTotalBytes;
  state().failing_until.clear();
  state().failing_call.clear();
  fill_memory();
}
std::vector<std::string> FakeCuda::take_calls() { return std::exchange(state().calls, {}); }
void FakeCuda::limit_memory(std::size_t bytes) { state().limit = bytes; }
void FakeCuda::fail_calls(const std::string& call, int status) {
  state().failing_call = call;
  state().failing_status = status;
}
std::size_t FakeCuda::used_memory() { return state().used; }
void FakeCuda::fail_planes_until(const std::string& call) {
  state().failing_until = call;
  fill_memory();
}

namespace {

struct cudaMalloc_call;
template <>
struct Body<cudaMalloc_call> {
  static cudaError_t body(void** memory, std::size_t bytes) {
    if (state().used + bytes > state().limit) return cudaErrorMemoryAllocation;
    *memory = std::malloc(bytes);
    std::memset(*memory, fill_byte(), bytes);
    state().memory[*memory] = bytes;
    state().used += bytes;
    return cudaSuccess;
  }
};

struct cudaFree_call;
template <>
struct Body<cudaFree_call> {
  static cudaError_t body(void* memory) {
    state().used -= state().memory.at(memory);
    state().memory.erase(memory);
    std::free(memory);
    return cudaSuccess;
  }
};

struct cudaHostAlloc_call;
template <>
struct Body<cudaHostAlloc_call> {
  static cudaError_t body(void** memory, std::size_t bytes, unsigned) {
    *memory = std::calloc(bytes, 1);
    return cudaSuccess;
  }
};

struct cudaHostGetDevicePointer_call;
template <>
struct Body<cudaHostGetDevicePointer_call> {
  static cudaError_t body(void** address, void* memory, unsigned) {
    *address = memory;
    return cudaSuccess;
  }
};

struct cudaFreeHost_call;
template <>
struct Body<cudaFreeHost_call> {
  static cudaError_t body(void* memory) {
    std::free(memory);
    return cudaSuccess;
  }
};

struct cudaMemGetInfo_call;
template <>
struct Body<cudaMemGetInfo_call> {
  static cudaError_t body(std::size_t* free, std::size_t* total) {
    *free = state().limit - state().used;
    *total = kTotalBytes;
    return cudaSuccess;
  }
};

struct cudaGetDeviceCount_call;
template <>
struct Body<cudaGetDeviceCount_call> {
  static cudaError_t body(int* count) {
    *count = 1;
    return cudaSuccess;
  }
};

struct cudaGetDeviceProperties_call;
template <>
struct Body<cudaGetDeviceProperties_call> {
  static cudaError_t body(cudaDeviceProp* properties, int) {
    *properties = {};
    std::strcpy(properties->name, "fake");
    return cudaSuccess;
  }
};

struct cudaDeviceGetAttribute_call;
template <>
struct Body<cudaDeviceGetAttribute_call> {
  static cudaError_t body(int* value, cudaDeviceAttr, int) {
    *value = 227 << 10;  // bytes of shared memory that a block of an H100 can use
    return cudaSuccess;
  }
};

}  // namespace
}  // namespace eckart::compute::cuda

// The loader asks the resolver for the address of the function, so only its name must be known
// here.
#define WRAP(name)                                                          \
  namespace eckart::compute::cuda {                                         \
  namespace {                                                               \
  struct name##_call {                                                      \
    static constexpr const char* value = #name;                             \
    template <class... Args>                                                \
    static auto body(Args... args) {                                        \
      return Body<name##_call>::body(args...);                              \
    }                                                                       \
  };                                                                        \
  }                                                                         \
  }                                                                         \
  extern "C" {                                                              \
  static decltype(&name) resolve_##name() {                                 \
    return &eckart::compute::cuda::Fake<eckart::compute::cuda::name##_call, \
                                        decltype(&name)>::call;             \
  }                                                                         \
  decltype(name) __wrap_##name __attribute__((ifunc("resolve_" #name)));    \
  }
#define WRAP_AFTER(name) WRAP(name)
#include "tests/backend/cuda/faults/wrapped_calls.inc"

extern "C" {

void __wrap_cublasGemmStridedBatchedEx() __attribute__((ifunc("resolve_gemm")));
static cublasStatus_t fake_gemm() {
  using eckart::compute::cuda::state;
  constexpr const char* kName = "cublasGemmStridedBatchedEx";
  eckart::compute::cuda::record(kName);
  return state().failing_call == kName ? cublasStatus_t(state().failing_status)
                                       : CUBLAS_STATUS_SUCCESS;
}
static void (*resolve_gemm())() { return reinterpret_cast<void (*)()>(&fake_gemm); }

cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  eckart::compute::cuda::record("cudaMemcpyAsync");
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t __wrap___cudaGetKernel(cudaKernel_t* kernel, const void*) {
  *kernel = nullptr;
  return cudaSuccess;
}
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t) {
  eckart::compute::cuda::record("kernel");
  return cudaSuccess;
}
cudaError_t __wrap_cudaGetLastError() { return cudaSuccess; }
cudaError_t __wrap_cudaPeekAtLastError() { return cudaSuccess; }
}
