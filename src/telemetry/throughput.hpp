#pragma once

#include <string>
#include <utility>
#include <vector>

#include "telemetry/machine.hpp"
#include "telemetry/nvml.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::telemetry {

/// What a run is, as far as it is known from the start.
struct RunIdentity {
  std::string run;      ///< an identifier
  std::string command;  ///< "run", "watch"
  std::string version;  ///< eckart's
  MachineFacts machine;
  std::vector<std::pair<std::string, std::string>> settings;  ///< that are not the defaults
  std::string settings_hash;                                  ///< of all
};
/// As it begins now.
RunIdentity identify_run(std::string command, std::string version);

/// What is known of its GPUs, once there is a backend.
struct GpuIdentity {
  std::string driver;
  std::vector<GpuFacts> gpus;
};

// The lines of docs/throughput-log.md: a JSON object each, without newline.

std::string run_line(const RunIdentity& identity, const GpuIdentity& gpus,
                     const Snapshot& snapshot);
/// `difference` of two snapshots.
std::string interval_line(const RunIdentity& identity, const Snapshot& difference);
std::string total_line(const RunIdentity& identity, const Snapshot& snapshot);

/// Seconds since 1970, as 2026-11-22T21:00:00.123Z.
std::string utc(double unix_s);
/// Now.
double unix_now();

}  // namespace eckart::telemetry
