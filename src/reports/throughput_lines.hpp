#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine/gpu_monitor.hpp"
#include "machine/machine_info.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::reports {

/// What identifies a run from its start.
struct RunIdentity {
  std::string run;      ///< identifier of the run
  std::string command;  ///< "run", "watch"
  std::string version;  ///< version of eckart
  machine::MachineInfo machine;
  std::vector<std::pair<std::string, std::string>>
      settings;                    ///< settings that differ from their defaults
  std::string configuration_hash;  ///< of all settings
};
/// The identity of a run that begins now.
RunIdentity make_run_identity(std::string command, std::string version);

/// The GPUs of a run, known once the backend is ready.
struct GpuInventory {
  std::string driver;
  std::vector<machine::GpuInfo> gpus;
};

// The lines of docs/reference/throughput-log.md: JSON objects without newline.

std::string run_line(const RunIdentity& identity, const GpuInventory& gpus,
                     const telemetry::Snapshot& snapshot);
/// `difference`: of two snapshots.
std::string interval_line(const RunIdentity& identity, const telemetry::Snapshot& difference);
std::string total_line(const RunIdentity& identity, const telemetry::Snapshot& snapshot);

}  // namespace eckart::reports
