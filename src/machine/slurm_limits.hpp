#pragma once

#include <cstdint>
#include <functional>

namespace eckart::machine {

/// Returns the value of an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// The number of CPUs of this task of Slurm, which clusters without control groups do not enforce;
/// the largest int if this is none.
int slurm_core_limit(const Environment& environment);

/// The bytes of memory of this task of Slurm on this node; the largest std::int64_t if there is no
/// limit.
std::int64_t slurm_memory_limit(const Environment& environment);

/// That of this process.
const char* environment_variable(const char* name);

}  // namespace eckart::machine
