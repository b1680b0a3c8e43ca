#pragma once

#include <string>
#include <string_view>

namespace eckart::cpu {

struct VectorUnits {
  bool avx2 = false, avx512 = false;
};
VectorUnits vector_units_of_this_cpu();

/// What to tell the operator where OpenBLAS does not know the CPU, and so computes with a fraction
/// of its vectors; empty where all is well. `core` is the name of the kernels it has chosen.
/// OpenBLAS reads the remedy from the environment when it is loaded, before main().
std::string remark_on_core(std::string_view core, VectorUnits units);

}  // namespace eckart::cpu
