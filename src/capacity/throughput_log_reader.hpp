#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"

namespace eckart::capacity {

/// What a stage did in an interval; sums over its threads.
struct StageSample {
  Stage stage = Stage::source;
  int workers = 0;
  double busy_s = 0, cpu_s = 0;
  std::int64_t images = 0;
};

/// A GPU in an interval.
struct GpuSample {
  double busy_s = 0, observed_s = 0;  ///< a kernel ran, of the time of which that is known
  std::optional<double> energy_j = {};
};

/// A line of kind `interval` or `total`, or several added up.
struct ThroughputSample {
  double elapsed_s = 0, interval_s = 0;
  std::int64_t done = 0, failed = 0, skipped = 0;
  std::int64_t unfinished = 0;  ///< at the end of it
  std::int64_t pixels = 0, input_bytes = 0;
  double cpu_s = 0;
  double in_system_s = 0;  ///< from found to published, summed over `in_system_count` images
  std::int64_t in_system_count = 0;
  std::vector<StageSample> stages = {};
  std::vector<GpuSample> gpus = {};

  /// Those that took time: a skipped one takes none.
  std::int64_t images() const { return done + failed; }
};

/// All lines of one run, or of a service between two changes of its configuration.
struct LoggedRun {
  std::string id = {}, time = {}, command = {}, host = {}, cpu = {}, backend = {}, device = {};
  int cores = 1;
  std::vector<std::string> gpus = {};                ///< names of those used
  std::map<std::string, std::string> settings = {};  ///< that are not the default
  double startup_s = 0;                              ///< until there was a backend
  std::vector<ThroughputSample> intervals = {};      ///< by time
  std::optional<ThroughputSample> total = {};        ///< none if it was killed, or still runs

  bool is_service() const { return command == "watch"; }
  /// The whole of it: its total, or the sum of its intervals.
  ThroughputSample whole() const;
};

/// `a` and, after it, `b`.
ThroughputSample sum(const ThroughputSample& a, const ThroughputSample& b);

/// Throughput logs (docs/reference/throughput-log.md), read one after another; lines belong
/// together by their run, in whichever file and order they are.
class ThroughputLogReader {
 public:
  /// A line that cannot be used costs this line and a warning, but for a last one that is cut
  /// short: so a killed run ends.
  void read(std::istream& lines, const std::string& name);
  /// Throws FatalError: no_input or no_permission.
  void read(const std::filesystem::path& file);

  /// Runs in which images were done, by the time of their first line. Throws
  /// FatalError(nothing_readable) if there is none, with what is wrong.
  std::vector<LoggedRun> runs();
  /// Whatever was left out, each with its file and line.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void parse_line(const std::string& line);
  /// Why a line cannot be used; empty where it was.
  std::string line_error(const std::string& line, bool is_last);

  std::map<std::string, LoggedRun> runs_;
  std::vector<std::string> warnings_, files_;
};

}  // namespace eckart::capacity
