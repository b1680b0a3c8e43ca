#include "pipeline/tally.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/printable.hpp"
#include "pipeline/output_quality.hpp"
#include "telemetry/log.hpp"
#include "telemetry/throughput.hpp"

namespace eckart {
namespace {

constexpr std::size_t kRecentFailures = 20;
constexpr double kExactPsnrDb = 99;  // stands for infinity in the mean

/// What `-v` tells of an image: its shape, and of each output rank, PSNR and file.
void log_done(const WorkItem& item) {
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    const telemetry::OutputLine line = line_of_output(item, i);
    spdlog::debug("{} ({} x {} x {}, {} bits): rank {}, {:.2f} dB, {} -> {}",
                  printable(line.file.native()), line.rows, line.cols, line.channels, line.bits,
                  line.rank, std::min(kExactPsnrDb, line.psnr_db),
                  std::isfinite(line.most_loss_db)
                      ? fmt::format("lost at most {:.1g} dB", line.most_loss_db)
                      : "no bound on what is lost",
                  printable(line.output.native()));
  }
}

}  // namespace

void Tally::found(Instant now) {
  const std::lock_guard lock(mutex_);
  unfinished_.insert(now);
  ++progress_.total;
}

void Tally::all_found() {
  const std::lock_guard lock(mutex_);
  progress_.total_is_final = true;
}

void Tally::count(const WorkItem& item) {
  const Outcome& outcome = item.outcome;
  if (outcome.result == Result::failed) {
    const telemetry::LogFields fields({{"ECKART_FILE", item.file.native()},
                                       {"ECKART_STAGE", std::string(to_string(outcome.stage))},
                                       {"ECKART_REASON", std::string(to_string(outcome.reason))}});
    spdlog::error("{}: {} ({}, in {})", printable(item.file.native()),
                  printable_message(outcome.detail), to_string(outcome.reason),
                  to_string(outcome.stage));
  }
  if (outcome.result == Result::done && spdlog::should_log(spdlog::level::debug)) log_done(item);
  const std::lock_guard lock(mutex_);
  if (const auto found = unfinished_.find(item.found_at); found != unfinished_.end())
    unfinished_.erase(found);
  if (outcome.result == Result::deferred) {  // and counts when it comes again
    --progress_.total;
    ++report_.retries_in[std::size_t(outcome.stage)];
    return;
  }
  ++progress_.done;
  report_.input_bytes += item.input_bytes;
  switch (outcome.result) {
    case Result::failed:
      ++progress_.failed;
      recent_failures_.push_front({telemetry::unix_now(), item.file.native(), outcome.stage,
                                   outcome.reason, outcome.detail});
      if (recent_failures_.size() > kRecentFailures) recent_failures_.pop_back();
      ++report_.failed;
      ++report_.failures[std::size_t(outcome.reason)];
      ++report_.failures_in[std::size_t(outcome.stage)][std::size_t(outcome.reason)];
      return;
    case Result::skipped:
      ++report_.skipped;
      ++progress_.skipped;
      return;
    case Result::deferred:
    case Result::done:
      break;
  }
  meters_.end_to_end.add(std::chrono::steady_clock::now() - item.found_at);
  last_done_unix_s_ = telemetry::unix_now();
  ++report_.done;
  for (const std::int64_t bytes : item.file_bytes) report_.output_bytes += bytes;
  const ImageShape& shape = item.task.input.shape();
  report_.pixels += std::int64_t(shape.rows) * shape.cols;
  for (const PlaneResult& plane : item.task.results[0]) {
    ++report_.planes;
    report_.planes_done_again += plane.done_again;
  }
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_done_before(i)) continue;
    const double psnr = std::min(kExactPsnrDb, psnr_of_output(item.task, i));
    report_.psnr_db_min = report_.outputs ? std::min(report_.psnr_db_min, psnr) : psnr;
    for (const PlaneResult& plane : item.task.results[i])
      report_.most_loss_db = std::max(report_.most_loss_db, plane.most_loss_db);
    psnr_sum_db_ += psnr;
    ++report_.outputs;
  }
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
    const std::chrono::duration<double> age =
        std::chrono::steady_clock::now() - *unfinished_.begin();
    snapshot.oldest_unix_s = telemetry::unix_now() - age.count();
  }
  snapshot.last_done_unix_s = last_done_unix_s_;
  snapshot.recent_failures = recent_failures_;
}

telemetry::RunReport Tally::report() const {
  const std::lock_guard lock(mutex_);
  telemetry::RunReport report = report_;
  if (report.outputs) report.psnr_db_mean = psnr_sum_db_ / double(report.outputs);
  return report;
}

}  // namespace eckart
