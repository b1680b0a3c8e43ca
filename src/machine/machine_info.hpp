#pragma once

#include <cstdint>
#include <string>

#include "machine/usage.hpp"

namespace eckart::machine {

/// Properties of the machine that do not change while a process runs.
struct MachineInfo {
  std::string host, cpu;  ///< names of the host and the CPU
  int cores = 0;          ///< logical CPUs that this process may use
  std::int64_t memory_bytes = 0;
};
MachineInfo machine_info();

/// The resource usage of this process: CPU time since its start, memory and threads now.
ProcessUsage process_usage();

/// The time since boot in which cores of the machine ran no process, also because of waiting for a
/// disk, summed over all cores; 0: unknown.
double idle_core_s();

/// Start time of the process in seconds since 1970.
double process_start_unix_s();

}  // namespace eckart::machine
