#include "machine/slurm_limits.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>

namespace eckart::machine {
namespace {

/// 0 if the variable is not set, or no positive number.
std::int64_t number_in(const Environment& environment, const char* name) {
  const char* text = environment(name);
  if (!text) return 0;
  while (*text == ' ') ++text;  // Slurm writes " 4"
  std::int64_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto result = std::from_chars(text, end, number);
  return result.ec == std::errc() && result.ptr == end && number > 0 ? number : 0;
}

}  // namespace

int slurm_core_limit(const Environment& environment) {
  if (environment("SLURM_JOB_ID")) {
    for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"}) {
      const std::int64_t cores = number_in(environment, name);
      if (cores > 0 && cores <= std::numeric_limits<int>::max()) return int(cores);
    }
  }
  return std::numeric_limits<int>::max();
}

std::int64_t slurm_memory_limit(const Environment& environment) {
  constexpr std::int64_t kMiB = 1 << 20, kMax = std::numeric_limits<std::int64_t>::max();
  if (!environment("SLURM_JOB_ID")) return kMax;
  std::int64_t mib = number_in(environment, "SLURM_MEM_PER_NODE");  // 0: all memory of the node
  if (mib == 0) {
    const std::int64_t per_core = number_in(environment, "SLURM_MEM_PER_CPU");
    const int cores = slurm_core_limit(environment);
    if (cores < std::numeric_limits<int>::max() && per_core < kMax / kMiB / cores)
      mib = per_core * cores;
  }
  return mib > 0 && mib < kMax / kMiB ? mib * kMiB : kMax;
}

const char* environment_variable(const char* name) { return std::getenv(name); }

}  // namespace eckart::machine
