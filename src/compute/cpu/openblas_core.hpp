#pragma once

#include <string>
#include <string_view>

namespace eckart::cpu {

struct SimdFeatures {
  bool avx2 = false, avx512 = false;
};
SimdFeatures detect_simd_features();

/// What to tell the operator where OpenBLAS does not know the CPU, and so computes with a fraction
/// of its vectors; empty where all is well. `core` is the name of the kernels it has chosen.
/// OpenBLAS reads the remedy from the environment when it is loaded, before main().
std::string openblas_core_warning(std::string_view core, SimdFeatures features);

}  // namespace eckart::cpu
