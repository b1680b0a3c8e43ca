#include "compute/cpu/openblas_core.hpp"

namespace eckart::cpu {

VectorUnits vector_units_of_this_cpu() {
#if defined(__x86_64__)
  return {__builtin_cpu_supports("avx2") != 0, __builtin_cpu_supports("avx512f") != 0};
#else
  return {};
#endif
}

std::string remark_on_core(std::string_view core, VectorUnits units) {
  constexpr std::string_view kFallback = "Prescott";  // SSE3, 2004
  if (core != kFallback || !units.avx2) return {};
  return "this OpenBLAS does not know this CPU and computes with SSE3 alone; with "
         "OPENBLAS_CORETYPE=" +
         std::string(units.avx512 ? "SkylakeX" : "Haswell") +
         " in the environment it is about twice as fast";
}

}  // namespace eckart::cpu
