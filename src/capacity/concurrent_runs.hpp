#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capacity/throughput_log_reader.hpp"

namespace eckart::capacity {

/// The runs of one node, by the name of its host.
struct NodeRuns {
  std::string host = {};
  int runs = 0, most_at_once = 0;
  std::int64_t images = 0;  ///< done or failed
  double busy_s = 0;        ///< in which at least one run worked
  double images_per_s() const { return busy_s > 0 ? double(images) / busy_s : 0; }
};

/// Runs that worked at the same time on shared storage: the tasks of a job, or several services.
struct ConcurrentRuns {
  std::vector<NodeRuns> nodes = {};  ///< by host name
  int runs = 0, most_at_once = 0;    ///< on all nodes
  std::int64_t images = 0;           ///< done or failed
  double elapsed_s = 0;              ///< from the start of the first run to the end of the last
  /// Share of the time of `most_at_once` runs in which fewer worked: at the end, or while tasks
  /// waited for a node.
  double idle_share = 0;
  double read_bytes_per_s = 0, written_bytes_per_s = 0;
  /// Input files read, and output files made, counting one output for each image.
  double files_per_s = 0;

  double images_per_s() const { return elapsed_s > 0 ? double(images) / elapsed_s : 0; }
};

/// Returns nullopt if no two runs worked at the same time, or if their times are not known. If
/// there were times in which none worked, returns what did most between two of them: several jobs
/// to one folder are not one.
std::optional<ConcurrentRuns> concurrent_runs(const std::vector<LoggedRun>& runs);

/// Seconds since 1970 of "2026-11-22T10:00:00.25Z"; nullopt if it has another form.
std::optional<double> parse_log_time(const std::string& text);

}  // namespace eckart::capacity
