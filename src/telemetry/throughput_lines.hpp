#pragma once

#include <string>
#include <utility>
#include <vector>

#include "telemetry/gpu_monitor.hpp"
#include "telemetry/machine_info.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::telemetry {

/// What a run is, as far as it is known from the start.
struct RunIdentity {
  std::string run;      ///< an identifier
  std::string command;  ///< "run", "watch"
  std::string version;  ///< eckart's
  MachineInfo machine;
  std::vector<std::pair<std::string, std::string>> settings;  ///< that are not the defaults
  std::string settings_hash;                                  ///< of all
};
/// As it begins now.
RunIdentity make_run_identity(std::string command, std::string version);

/// What is known of its GPUs, once there is a backend.
struct GpuInventory {
  std::string driver;
  std::vector<GpuInfo> gpus;
};

// The lines of docs/throughput-log.md: a JSON object each, without newline.

std::string run_line(const RunIdentity& identity, const GpuInventory& gpus,
                     const Snapshot& snapshot);
/// `difference` of two snapshots.
std::string interval_line(const RunIdentity& identity, const Snapshot& difference);
std::string total_line(const RunIdentity& identity, const Snapshot& snapshot);

/// Seconds since 1970, as 2026-11-22T21:00:00.123Z.
std::string utc_timestamp(double unix_s);
/// Now.
double unix_now_s();

}  // namespace eckart::telemetry
