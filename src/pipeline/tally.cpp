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

/// True if this plane was recomputed for any output. Full-rank outputs never are. Ranks that are
/// not needed have no results.
bool is_recomputed(const compute::Task& task, std::size_t plane) {
  return std::ranges::any_of(task.results,
                             [plane](const std::vector<compute::PlaneResult>& planes) {
                               return plane < planes.size() && planes[plane].is_recomputed;
                             });
}

/// Logs the shape of an image, and rank, PSNR and file of each output (flag -v). The PSNR is that
/// of the file if it was measured.
void log_done(const WorkItem& item) {
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_skipped(i)) continue;
    const telemetry::OutputMeasurement line = output_measurement(item, i);
    spdlog::debug("{} ({} x {} x {}, {} bits): rank {}, {:.2f} dB, {} -> {}",
                  text::printable(item.file.native()), line.rows, line.cols, line.channels,
                  line.bits, line.rank,
                  finite_psnr_db(std::isnan(line.file_psnr_db) ? line.psnr_db : line.file_psnr_db),
                  std::isfinite(line.loss_estimate_db)
                      ? fmt::format("loss estimate {:.1g} dB", line.loss_estimate_db)
                      : "no loss estimate",
                  text::printable(item.outputs[i].native()));
  }
}

/// Logs a failure, or with -v what was done.
void log_result(const WorkItem& item) {
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
}

}  // namespace

void Tally::set_total_final() {
  const std::lock_guard lock(mutex_);
  progress_.is_total_final = true;
}

void Tally::set_not_read(telemetry::CountsByExtension files) {
  const std::lock_guard lock(mutex_);
  report_.not_read = std::move(files);
}

void Tally::count(std::span<const ItemPtr> items) {
  std::vector<std::int64_t> numbers;
  for (const ItemPtr& item : items) {
    log_result(*item);
    numbers.push_back(item->number);
  }
  found_.finish(numbers);
  const std::lock_guard lock(mutex_);
  for (const ItemPtr& item : items) count(*item);
}

/// Call it with the mutex locked.
void Tally::count(const WorkItem& item) {
  const Outcome& outcome = item.outcome;
  if (outcome.will_be_retried()) {  // counted when it is tried again
    ++retried_;
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
      if (!item.is_partly_done) return;
      ++report_.partly_done;
      count_outputs(item);
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
  count_outputs(item);
}

/// With what they were made of.
void Tally::count_outputs(const WorkItem& item) {
  for (const std::int64_t bytes : item.output_bytes) report_.output_bytes += bytes;
  const ImageShape& shape = item.image_shape;
  report_.pixels += std::int64_t(shape.rows) * shape.cols;
  report_.planes += item.matrices_shape.channels;
  if (item.undecoded_format && item.task.encoded_input) ++report_.decoded_on_gpu;
  report_.encoded_on_gpu += item.backend_encoded_outputs;
  for (std::size_t plane = 0; plane < std::size_t(item.matrices_shape.channels); ++plane)
    report_.planes_recomputed += is_recomputed(item.task, plane);
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_skipped(i)) continue;
    if (item.is_residual(i) || (item.is_factors(i) && item.has_reconstructions())) {
      count_costs(item, i);
    } else {
      count_output(item, i);
    }
  }
}

void Tally::count_output(const WorkItem& item, std::size_t output) {
  const std::size_t index = item.rank_index(output);
  for (const compute::PlaneResult& plane : item.task.results[index]) {
    report_.max_loss_estimate_db = std::max(report_.max_loss_estimate_db, plane.loss_estimate_db);
    report_.max_loss_bound_db = max_loss_bound_db(report_.max_loss_bound_db, plane.loss_bound_db);
  }
  ++report_.outputs;
  const double psnr = finite_psnr_db(output_psnr_db(item, index));
  const double file_psnr = file_psnr_db(item, output);
  const OutputQuality quality = quality_of(item, output);
  telemetry::RankSummary& rank = summary_of(rank_spec_of(item, output));
  ++rank.outputs;
  if (!std::isnan(psnr)) {
    psnr_db_.add(psnr);
    rank.psnr_db.add(psnr);
  }
  if (!std::isnan(file_psnr)) rank.file_psnr_db.add(finite_psnr_db(file_psnr));
  if (!std::isnan(quality.ssim)) rank.ssim.add(quality.ssim);
  if (output < item.output_bytes.size()) rank.output_bytes += item.output_bytes[output];
  rank.compute_s += std::chrono::duration<double>(item.compute_time).count();
  rank.write_s += std::chrono::duration<double>(quality.write_time).count();
}

/// Of a residual, or of factors beside reconstructions: its errors are those of an output.
void Tally::count_costs(const WorkItem& item, std::size_t output) {
  telemetry::RankSummary& rank = summary_of(to_string(item.output_ranks[item.rank_index(output)]));
  rank.output_bytes += item.output_bytes[output];
  rank.write_s += std::chrono::duration<double>(quality_of(item, output).write_time).count();
}

telemetry::RankSummary& Tally::summary_of(const std::string& rank) {
  const auto found = std::ranges::find(report_.ranks, rank, &telemetry::RankSummary::rank);
  return found != report_.ranks.end() ? *found
                                      : report_.ranks.emplace_back(telemetry::RankSummary{rank});
}

telemetry::ProgressState Tally::progress() const {
  const std::lock_guard lock(mutex_);
  return locked_progress();
}

/// Call it with the mutex locked.
telemetry::ProgressState Tally::locked_progress() const {
  telemetry::ProgressState progress = progress_;
  progress.total = found_.count() - retried_;
  return progress;
}

void Tally::add_to(telemetry::Snapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  snapshot.counts = report_;
  const telemetry::ProgressState progress = locked_progress();
  snapshot.found = progress.total;
  snapshot.unfinished = progress.total - progress.done;
  if (const auto oldest = found_.oldest_unfinished()) {
    const std::chrono::duration<double> age = Clock::now() - *oldest;
    snapshot.oldest_unfinished_unix_s = machine::unix_now_s() - age.count();
  }
  snapshot.last_done_unix_s = last_done_unix_s_;
  snapshot.recent_failures = recent_failures_;
  snapshot.not_read = report_.not_read;
}

telemetry::RunReport Tally::report() const {
  const std::lock_guard lock(mutex_);
  telemetry::RunReport report = report_;
  const bool is_known = psnr_db_.count() > 0 || report.outputs == 0;
  report.psnr_db_mean = is_known ? psnr_db_.mean() : std::numeric_limits<double>::quiet_NaN();
  report.psnr_db_min = is_known ? psnr_db_.min() : std::numeric_limits<double>::quiet_NaN();
  return report;
}

}  // namespace eckart::pipeline
