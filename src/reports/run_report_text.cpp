#include "reports/run_report_text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "reports/bottleneck_text.hpp"
#include "reports/rank_table.hpp"
#include "reports/run_report_derived.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"
#include "text/percent_text.hpp"
#include "text/printable.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::reports {
namespace {

/// A line of the summary: "label       text\n".
std::string labeled(std::string_view label, std::string_view text) {
  return fmt::format("{:<11} {}\n", label, text);
}

/// `done`: what was done with the images.
std::string images_text(const telemetry::RunReport& report, std::string_view done) {
  std::string text = fmt::format("{} {}, {} failed", text::group_digits(report.done), done,
                                 text::group_digits(report.failed));
  if (report.skipped > 0) text += fmt::format(", {} skipped", text::group_digits(report.skipped));
  return text;
}

/// The failure reasons, most frequent first.
std::string failures_text(const telemetry::RunReport& report) {
  std::vector<int> reasons;
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    if (report.failures[std::size_t(reason)] > 0) reasons.push_back(reason);
  }
  const auto count = [&](int reason) { return report.failures[std::size_t(reason)]; };
  std::stable_sort(reasons.begin(), reasons.end(),
                   [&](int a, int b) { return count(a) > count(b); });
  std::string text;
  for (const int reason : reasons) {
    if (!text.empty()) text += ", ";
    text +=
        fmt::format("{} {}", text::group_digits(count(reason)), to_string(FailureReason(reason)));
  }
  return text;
}

/// The largest loss of PSNR of all outputs, as bound or estimate.
std::string loss_text(const telemetry::RunReport& report) {
  if (std::isfinite(report.max_loss_bound_db))
    return fmt::format("proven loss at most {:.1g} dB", report.max_loss_bound_db);
  if (std::isfinite(report.max_loss_estimate_db))
    return fmt::format("loss estimate at most {:.1g} dB", report.max_loss_estimate_db);
  return "no loss estimate for some outputs";
}

std::string rates_text(const telemetry::RunReport& report) {
  return fmt::format("{}, {} Mpixel/s",
                     text::format_image_rate(per_second(report, double(report.done))),
                     text::format_number(per_second(report, 1e-6 * double(report.pixels))));
}

std::string file_rates_text(const telemetry::RunReport& report) {
  return fmt::format("files: {} MB/s read, {} MB/s written",
                     text::format_number(per_second(report, 1e-6 * double(report.input_bytes))),
                     text::format_number(per_second(report, 1e-6 * double(report.output_bytes))));
}

/// The solvers of the first shapes, and the number of other shapes.
std::string solver_lines(const std::vector<telemetry::SolverChoiceStats>& solvers) {
  constexpr std::size_t kMaxShapes = 3;
  std::string lines;
  for (std::size_t i = 0; i < std::min(kMaxShapes, solvers.size()); ++i) {
    const telemetry::SolverChoiceStats& row = solvers[i];
    lines +=
        labeled(i == 0 ? "solver" : "", fmt::format("{} x {}, rank {}: {} ({})", row.rows, row.cols,
                                                    row.rank, row.solver, row.explanation));
  }
  if (solvers.size() > kMaxShapes) {
    lines +=
        labeled("", text::format_count(std::int64_t(solvers.size() - kMaxShapes), "more shape") +
                        ": see --json");
  }
  return lines;
}

std::string stage_table(const std::vector<telemetry::StageStats>& stages) {
  constexpr std::string_view kRow = "{:<11} {:>7} {:>7} {:>10} {:>7}\n";
  std::string table = fmt::format(kRow, "stage", "threads", "busy", "input wait", "blocked");
  for (const telemetry::StageStats& stage : stages) {
    const double total = telemetry::total_time_s(stage);
    const auto share = [&](double s) { return total > 0 ? text::percent_text(s / total) : "-"; };
    table += fmt::format(kRow, to_string(stage.stage), stage.workers, share(stage.busy_s),
                         share(stage.waiting_for_input_s), share(stage.blocked_s));
  }
  return table;
}

/// `advice`: how to continue after an interruption.
std::string stop_line(const telemetry::RunReport& report, std::string_view advice) {
  constexpr std::string_view kFigures = "the figures below cover the work done before that";
  if (!report.stopped_by.empty())
    return labeled("STOPPED",
                   fmt::format("{}; {}", text::printable_message(report.stopped_by), kFigures));
  return report.interrupted ? labeled("INTERRUPTED", fmt::format("{}{}", advice, kFigures)) : "";
}

std::string image_lines(const telemetry::RunReport& report, std::string_view done) {
  std::string lines = labeled("images", images_text(report, done));
  if (report.ignored > 0) lines += labeled("ignored", ignored_text(report));
  if (report.failed > 0) lines += labeled("failures", failures_text(report));
  return lines;
}

bool has_rates(const telemetry::RunReport& report) { return report.done > 0 && report.wall_s > 0; }

std::string backend_line(const telemetry::RunReport& report) {
  if (report.backend.empty()) return {};
  return labeled("backend", report.backend_details.empty()
                                ? report.backend
                                : fmt::format("{}: {}", report.backend, report.backend_details));
}

/// Where files were decoded and encoded, if not all on the CPU.
std::string codec_line(const telemetry::RunReport& report) {
  if (report.decoded_on_gpu + report.encoded_on_gpu == 0) return {};
  return labeled("on the GPU", fmt::format("{} of {} decoded, {} of {} encoded",
                                           text::group_digits(report.decoded_on_gpu),
                                           text::format_count(report.done, "image"),
                                           text::group_digits(report.encoded_on_gpu),
                                           text::format_count(report.outputs, "output")));
}

std::string notes(const telemetry::RunReport& report) {
  std::string lines;
  for (const std::string& warning : report.warnings) lines += labeled("note", warning);
  return lines;
}

}  // namespace

std::string ignored_text(const telemetry::RunReport& report) {
  std::string text;
  std::int64_t others = report.ignored;
  for (const auto& [extension, count] : report.not_read) others -= count;
  if (!report.not_read.empty()) text = text::unread_files_text(report.not_read) + "; ";
  if (others == 0 && !text.empty()) return text.substr(0, text.size() - 2);
  return text + fmt::format("{} ignored (hidden, temporary, or link)",
                            text::format_count(others, text.empty() ? "file" : "other"));
}

std::string bottleneck_text(const telemetry::RunReport& report) {
  return bottleneck_text(find_bottleneck(report), report.machine.cores);
}

std::string to_text(const telemetry::RunReport& report) {
  std::string text = stop_line(report, "the same command continues; ");
  text += image_lines(report, "done");
  if (report.outputs > 0)
    text += labeled("outputs", text::group_digits(report.outputs) + "; " + loss_text(report));
  text += labeled("time", text::format_duration(report.wall_s));
  if (has_rates(report))
    text += labeled("rate", rates_text(report) + "; " + file_rates_text(report));
  if (report.done + report.skipped == 0) return text + notes(report);  // nothing was measured
  text += backend_line(report);
  text += codec_line(report);
  text += solver_lines(report.solvers);
  if (report.outputs > 0) text += '\n' + rank_table(report.ranks);
  if (!report.stages.empty()) text += fmt::format("\n{}\n", stage_table(report.stages));
  if (const std::string sentence = bottleneck_text(report); !sentence.empty()) {
    text += labeled("bottleneck", sentence);
  }
  if (report.planes_recomputed > 0) {
    text += labeled("note", fmt::format("{} of {} planes were recomputed by a more accurate solver",
                                        text::group_digits(report.planes_recomputed),
                                        text::group_digits(report.planes)));
  }
  return text + notes(report);
}

std::string measurement_text(const telemetry::RunReport& report) {
  std::string text = stop_line(report, "");
  text += image_lines(report, "measured");
  text += labeled("time", text::format_duration(report.wall_s));
  if (has_rates(report)) text += labeled("rate", rates_text(report));
  if (report.done > 0) text += backend_line(report);
  return text + notes(report);
}

}  // namespace eckart::reports
