#pragma once

#include <string>
#include <utility>
#include <vector>

#include "machine/gpu_monitor.hpp"
#include "machine/machine_info.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::reports {

/// What a run is, as far as it is known from the start.
struct RunIdentity {
  std::string run;      ///< an identifier
  std::string command;  ///< "run", "watch"
  std::string version;  ///< eckart's
  machine::MachineInfo machine;
  std::vector<std::pair<std::string, std::string>> settings;  ///< that are not the defaults
  std::string settings_hash;                                  ///< of all
};
/// As it begins now.
RunIdentity make_run_identity(std::string command, std::string version);

/// What is known of its GPUs, once there is a backend.
struct GpuInventory {
  std::string driver;
  std::vector<machine::GpuInfo> gpus;
};

// The lines of docs/reference/throughput-log.md: a JSON object each, without newline.

std::string run_line(const RunIdentity& identity, const GpuInventory& gpus,
                     const telemetry::Snapshot& snapshot);
/// `difference` of two snapshots.
std::string interval_line(const RunIdentity& identity, const telemetry::Snapshot& difference);
std::string total_line(const RunIdentity& identity, const telemetry::Snapshot& snapshot);

}  // namespace eckart::reports
