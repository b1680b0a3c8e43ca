#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/rate.hpp"
#include "bench/report/table.hpp"

namespace eckart::bench {

/// The median, minimum and maximum of some rounds; 0 without any.
struct Spread {
  double median = 0, min = 0, max = 0;
};
Spread spread(std::vector<double> values);

/// What does the work of a row for all images.
enum class Worker {
  cpu,  ///< the threads of the row
  gpu,  ///< the backend, in the stage compute: there is no rate
};

/// A line of the result: work that was measured alone, in each round.
struct PipelineRow {
  std::string name;
  std::string part_of = {};     ///< a stage of which this is a part; empty: not a part
  std::string durability = {};  ///< of the files that it writes; empty: it writes none
  int threads = 1;
  Worker worker = Worker::cpu;
  std::vector<Rate> rounds = {};

  bool is_measured() const { return !rounds.empty() && rounds.front().count > 0; }
  Spread per_s() const;             ///< images per second
  double cpu_us_per_image() const;  ///< median
};

/// The name of the row of the file system that PipelineLimits uses.
inline constexpr const char* kReadAndWrite = "read and write";

/// A whole run.
struct WholeRun {
  std::int64_t images = 0;
  double images_per_s = 0;             ///< without the start
  double images_per_s_with_start = 0;  ///< from the start of the program to its end
  double start_s = 0;                  ///< until there was a backend
  double cpu_us_per_image = 0;
};

Spread spread(const std::vector<WholeRun>& rounds, double WholeRun::*value);

/// Means of the images of a run.
struct ImageMeans {
  double input_bytes = 0, output_bytes = 0;
  double outputs = 0;
  double decoded_on_gpu = 0;  ///< share of the images
  double encoded_on_gpu = 0;  ///< share of the outputs
};

/// What limits a run, and how close it comes to that.
struct PipelineLimits {
  std::string durability;
  const PipelineRow* slowest_stage = nullptr;  ///< alone
  double whole_per_s = 0;
  double slowest_stage_per_s = 0;
  double cores_per_s = 0;        ///< that all cores allow if they do nothing but all stages
  double file_system_per_s = 0;  ///< reading and writing at once, without other work
  /// The largest share of the CPU time of all stages, and its row; null if no CPU time is known.
  const PipelineRow* largest_part = nullptr;
  double largest_part_share = 0;

  bool is_limited_by_cores() const { return cores_per_s < slowest_stage_per_s; }
  double limit_per_s() const { return is_limited_by_cores() ? cores_per_s : slowest_stage_per_s; }
};

/// The result of `eckart bench pipeline`.
struct PipelineResult {
  std::string backend, device, driver;  ///< driver: empty if unknown
  int cores = 0;
  std::int64_t files = 0;  ///< different inputs
  ImageMeans image;
  double seconds = 0;
  std::vector<std::pair<std::string, std::string>> settings;  ///< that are not the default
  std::vector<PipelineRow> stages;       ///< and their parts, in the order of the work
  std::vector<PipelineRow> file_system;  ///< without other work
  struct Whole {
    std::string durability;
    std::vector<WholeRun> rounds;
  };
  std::vector<Whole> whole;

  /// Of whole runs, which are measured first.
  int rounds() const { return whole.empty() ? 0 : int(whole.front().rounds.size()); }
  /// Removes the rounds after the first ones.
  void keep_rounds(int count);
  /// Sorts `stages` in the order of the work.
  void place_parts_after_stages();
  /// Of the durability with this index in `whole`. The rows stay those of this object.
  PipelineLimits limits(std::size_t durability) const;
};

/// The result as aligned tables and one sentence for people.
std::string to_text(const PipelineResult& result);
/// The result as a table for a report with other experiments.
Table to_table(const PipelineResult& result);
/// The sentence: what limits the run, how close it comes to that, and what helps.
std::string conclusion(const PipelineResult& result);
/// The object of kind `pipeline`.
std::string to_json(const PipelineResult& result);

}  // namespace eckart::bench
