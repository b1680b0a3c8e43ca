#pragma once

#include <string>
#include <string_view>

namespace eckart::compute::cpu {

struct SimdFeatures {
  bool avx2 = false, avx512 = false;
};
SimdFeatures detect_simd_features();

/// Returns a warning if OpenBLAS does not recognize the CPU and therefore uses only part of its
/// SIMD width; otherwise an empty string. `core` is the name of the kernels that OpenBLAS has
/// chosen. OpenBLAS reads OPENBLAS_CORETYPE when it is loaded, before main().
std::string openblas_core_warning(std::string_view core, SimdFeatures features);

}  // namespace eckart::compute::cpu
