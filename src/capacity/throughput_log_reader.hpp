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

/// The work of a stage in an interval, summed over its threads.
struct StageSample {
  Stage stage = Stage::source;
  int workers = 0;  ///< at the end of the interval
  double busy_s = 0, cpu_s = 0;
  std::int64_t images = 0;
  double thread_s = 0;  ///< the time of its threads, whose number may change; 0: unknown
};

/// The work of a GPU in an interval.
struct GpuSample {
  /// Time in which a kernel ran, and time in which this was measured.
  double busy_s = 0, observed_s = 0;
  std::optional<double> energy_j = {};
};

/// A line of kind `interval` or `total`, or a sum of several.
struct ThroughputSample {
  double elapsed_s = 0, interval_s = 0;
  std::int64_t done = 0, failed = 0, skipped = 0;
  std::int64_t unfinished = 0;  ///< at the end of the interval
  std::int64_t pixels = 0, input_bytes = 0;
  std::int64_t output_bytes = 0;  ///< 0: unknown
  double cpu_s = 0;
  double in_system_s = 0;  ///< from found to published, summed over `in_system_count` images
  std::int64_t in_system_count = 0;
  std::vector<StageSample> stages = {};
  std::vector<GpuSample> gpus = {};

  /// Returns the number of processed images. Skipped images take no time and do not count.
  std::int64_t images() const { return done + failed; }
};

/// All lines of one run, or of a service between two changes of its configuration.
struct LoggedRun {
  std::string id = {}, time = {}, command = {}, host = {}, cpu = {}, backend = {}, device = {};
  int cores = 1;
  std::vector<std::string> gpus = {};                ///< names of the GPUs used
  std::map<std::string, std::string> settings = {};  ///< settings that are not the default
  double startup_s = 0;                              ///< until there was a backend
  /// Of recorded figures of another machine: the work and where the figures are from.
  std::string recorded_work = {}, recorded_source = {};
  std::vector<ThroughputSample> intervals = {};  ///< by time
  std::optional<ThroughputSample> total = {};    ///< none if the run was killed or is not finished

  bool is_service() const { return command == "watch"; }
  /// Returns the total of the run, or the sum of its intervals if there is no total.
  ThroughputSample whole() const;
};

/// Returns the sum of `a` and the later sample `b`.
ThroughputSample sum(const ThroughputSample& a, const ThroughputSample& b);

/// Reads several throughput logs (docs/reference/throughput-log.md). Lines are grouped by their
/// run, regardless of file and order.
class ThroughputLogReader {
 public:
  /// Ignores each unusable line with a warning. An incomplete last line causes no warning, because
  /// a killed run ends with one.
  void read(std::istream& lines, const std::string& name);
  /// Throws FatalError: no_input or no_permission.
  void read(const std::filesystem::path& file);

  /// Returns the runs with finished images, ordered by the time of their first line. If there is
  /// none, throws FatalError(nothing_readable) with the reason.
  std::vector<LoggedRun> runs();
  /// Returns a warning for each ignored line, with file and line.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void parse_line(const std::string& line);
  /// Returns why the line cannot be used; empty if it was used.
  std::string line_error(const std::string& line, bool is_last);

  std::map<std::string, LoggedRun> runs_;
  std::vector<std::string> warnings_, files_;
};

}  // namespace eckart::capacity
