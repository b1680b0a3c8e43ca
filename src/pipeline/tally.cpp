#include "pipeline/tally.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/quality.hpp"
#include "core/rank_spec.hpp"
#include "logging/log.hpp"
#include "machine/unix_time.hpp"
#include "pipeline/output_quality.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

constexpr std::size_t kRecentFailures = 20;
constexpr double kExactPsnrDb = 99;  // used in place of infinity

/// True if this plane was recomputed for any output. Full-rank outputs never are.
bool is_recomputed(const compute::Task& task, std::size_t channel) {
  return std::ranges::any_of(task.results,
                             [channel](const std::vector<compute::PlaneResult>& planes) {
                               return planes[channel].is_recomputed;
                             });
}

/// Logs the shape of an image, and rank, PSNR and file of each output (flag -v).
void log_done(const WorkItem& item) {
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    const telemetry::OutputMeasurement line = output_measurement(item, i);
    spdlog::debug("{} ({} x {} x {}, {} bits): rank {}, {:.2f} dB, {} -> {}",
                  text::printable(line.file.native()), line.rows, line.cols, line.channels,
                  line.bits, line.rank, std::min(kExactPsnrDb, line.psnr_db),
                  std::isfinite(line.loss_estimate_db)
                      ? fmt::format("loss estimate {:.1g} dB", line.loss_estimate_db)
                      : "no loss estimate",
                  text::printable(line.output.native()));
  }
}

}  // namespace

void Tally::add_found(Instant now) {
  const std::lock_guard lock(mutex_);
  unfinished_.insert(now);
  ++progress_.total;
}

void Tally::set_total_final() {
  const std::lock_guard lock(mutex_);
  progress_.is_total_final = true;
}

void Tally::set_not_read(telemetry::CountsByExtension files) {
  const std::lock_guard lock(mutex_);
  report_.not_read = std::move(files);
}

void Tally::count(const WorkItem& item) {
  const Outcome& outcome = item.outcome;
  if (outcome.result == ItemResult::failed) {
    const logging::LogFields fields({{"ECKART_FILE", item.file.native()},
                                     {"ECKART_STAGE", std::string(to_string(outcome.stage))},
                                     {"ECKART_REASON", std::string(to_string(outcome.reason))}});
    spdlog::error("{}: {} ({}, in {})", text::printable(item.file.native()),
                  text::printable_message(outcome.detail), to_string(outcome.reason),
                  to_string(outcome.stage));
  }
  if (outcome.result == ItemResult::done && spdlog::should_log(spdlog::level::debug))
    log_done(item);
  const std::lock_guard lock(mutex_);
  if (const auto found = unfinished_.find(item.found_at); found != unfinished_.end())
    unfinished_.erase(found);
  if (outcome.will_be_retried()) {  // counted when it is tried again
    --progress_.total;
    ++report_.retries_by_stage[std::size_t(outcome.stage)];
    return;
  }
  ++progress_.done;
  report_.input_bytes += item.input_bytes;
  switch (outcome.result) {
    case ItemResult::failed:
      ++progress_.failed;
      recent_failures_.push_front({machine::unix_now_s(), item.file.native(), outcome.stage,
                                   outcome.reason, outcome.detail});
      if (recent_failures_.size() > kRecentFailures) recent_failures_.pop_back();
      ++report_.failed;
      ++report_.failures[std::size_t(outcome.reason)];
      ++report_.failures_by_stage[std::size_t(outcome.stage)][std::size_t(outcome.reason)];
      return;
    case ItemResult::skipped:
      ++report_.skipped;
      ++progress_.skipped;
      return;
    case ItemResult::incomplete:
    case ItemResult::deferred:
    case ItemResult::done:
      break;
  }
  meters_.end_to_end.add(Clock::now() - item.found_at);
  last_done_unix_s_ = machine::unix_now_s();
  ++report_.done;
  for (const std::int64_t bytes : item.output_bytes) report_.output_bytes += bytes;
  const ImageShape& shape = item.task.input.shape();
  report_.pixels += std::int64_t(shape.rows) * shape.cols;
  report_.planes += shape.channels;
  for (std::size_t channel = 0; channel < std::size_t(shape.channels); ++channel)
    report_.planes_recomputed += is_recomputed(item.task, channel);
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_skipped(i)) continue;
    const double psnr = std::min(kExactPsnrDb, output_psnr_db(item.task, i));
    for (const compute::PlaneResult& plane : item.task.results[i]) {
      report_.max_loss_estimate_db = std::max(report_.max_loss_estimate_db, plane.loss_estimate_db);
      report_.max_loss_bound_db = max_loss_bound_db(report_.max_loss_bound_db, plane.loss_bound_db);
    }
    quality_.add(psnr);
    ++report_.outputs;
    quality_of(to_string(item.output_ranks[i])).add(psnr);
  }
}

telemetry::RankQuality& Tally::quality_of(const std::string& rank) {
  const auto found = std::ranges::find(report_.ranks, rank, &telemetry::RankQuality::rank);
  return found != report_.ranks.end() ? *found
                                      : report_.ranks.emplace_back(telemetry::RankQuality{rank});
}

telemetry::ProgressState Tally::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void Tally::add_to(telemetry::Snapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  snapshot.counts = report_;
  snapshot.found = progress_.total;
  snapshot.unfinished = progress_.total - progress_.done;
  if (!unfinished_.empty()) {
    const std::chrono::duration<double> age = Clock::now() - *unfinished_.begin();
    snapshot.oldest_unfinished_unix_s = machine::unix_now_s() - age.count();
  }
  snapshot.last_done_unix_s = last_done_unix_s_;
  snapshot.recent_failures = recent_failures_;
  snapshot.not_read = report_.not_read;
}

telemetry::RunReport Tally::report() const {
  const std::lock_guard lock(mutex_);
  telemetry::RunReport report = report_;
  report.psnr_db_mean = quality_.psnr_db_mean;
  report.psnr_db_min = quality_.psnr_db_min;
  return report;
}

}  // namespace eckart::pipeline
