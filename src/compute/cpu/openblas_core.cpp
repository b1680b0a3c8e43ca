#include "compute/cpu/openblas_core.hpp"

namespace eckart::compute::cpu {

SimdFeatures detect_simd_features() {
#if defined(__x86_64__)
  return {__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("avx512f") != 0};
#else
  return {};
#endif
}

std::string openblas_core_warning(std::string_view core, SimdFeatures features) {
  constexpr std::string_view kGenericCore = "Prescott";  // SSE3, 2004
  if (core != kGenericCore || !features.avx2) return {};
  return "OpenBLAS does not recognize this CPU and uses only SSE3; set OPENBLAS_CORETYPE=" +
         std::string(features.avx512 ? "SkylakeX" : "Haswell") +
         " in the environment, so that it uses " + (features.avx512 ? "AVX-512" : "AVX2");
}

}  // namespace eckart::compute::cpu
