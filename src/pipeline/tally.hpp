#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>

#include "core/instant.hpp"
#include "pipeline/found_images.hpp"
#include "pipeline/work_item.hpp"
#include "telemetry/progress_state.hpp"
#include "telemetry/run_report.hpp"

namespace eckart::pipeline {

/// Counts the outcomes of images. Thread-safe.
class Tally {
 public:
  explicit Tally(Meters& meters) : meters_(meters) {}

  /// Counts images that the source found. Returns the WorkItem::number of the first; those of the
  /// others follow.
  std::int64_t add_found(Instant now, std::size_t images = 1) { return found_.add(now, images); }
  /// The number of images that were found and not counted since.
  std::int64_t unfinished() const { return found_.unfinished(); }
  void set_total_final();
  void set_not_read(telemetry::CountsByExtension files);
  /// Counts finished items. Logs each failure with file and reason.
  void count(std::span<const ItemPtr> items);

  telemetry::ProgressState progress() const;
  void add_to(telemetry::Snapshot& snapshot) const;
  /// Returns the report without stages, backend and wall time.
  telemetry::RunReport report() const;

 private:
  telemetry::ProgressState locked_progress() const;
  void count(const WorkItem& item);
  void count_outputs(const WorkItem& item);
  void count_output(const WorkItem& item, std::size_t output);
  void count_costs(const WorkItem& item, std::size_t output);
  telemetry::RankSummary& summary_of(const std::string& rank);

  Meters& meters_;
  FoundImages found_;
  mutable std::mutex mutex_;
  telemetry::ProgressState progress_;  // without the total
  std::int64_t retried_ = 0;           // images that will be found again
  telemetry::RunReport report_;
  telemetry::Statistic psnr_db_{0.01};  // of all ranks
  double last_done_unix_s_ = 0;
  std::deque<telemetry::ImageFailure> recent_failures_;
};

}  // namespace eckart::pipeline
