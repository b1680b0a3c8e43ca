#pragma once

#include <cstdint>
#include <string>

#include "machine/usage.hpp"

namespace eckart::machine {

/// What stays of a machine while a process runs.
struct MachineInfo {
  std::string host, cpu;  ///< their names
  int cores = 0;          ///< logical CPUs that this process may use
  std::int64_t memory_bytes = 0;
};
MachineInfo machine_info();

/// Since the process began, and now.
ProcessUsage process_usage();

/// When the process began, in seconds since 1970.
double process_start_unix_s();

}  // namespace eckart::machine
