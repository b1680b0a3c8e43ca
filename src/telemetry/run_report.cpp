#include "telemetry/run_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/grouped.hpp"
#include "core/printable.hpp"
#include "telemetry/run_report_figures.hpp"
#include "telemetry/text.hpp"

namespace eckart::telemetry {
namespace {

/// "label       text\n": every line of the summary but the table.
std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format("{:<11} {}\n", label, text);
}

/// 28.4 s, 3 min 05 s, 4 h 03 min
std::string wall_time_text(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto s = std::int64_t(std::llround(seconds));
  if (s < 3600) return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

/// At least three digits, never an exponent.
std::string measured_text(double per_s) {
  const int decimals = per_s < 10 ? 2 : per_s < 100 ? 1 : 0;
  return fmt::format("{:.{}f}", per_s, decimals);
}

std::string images_text(const RunReport& report) {
  std::string text =
      fmt::format("{} done, {} failed", grouped(report.done), grouped(report.failed));
  if (report.skipped > 0) text += fmt::format(", {} skipped", grouped(report.skipped));
  if (report.ignored > 0) {
    text += fmt::format("; {} {} ignored (by name, hidden, linked)", grouped(report.ignored),
                        report.ignored == 1 ? "file" : "files");
  }
  return text;
}

/// The most frequent reason first.
std::string failures_text(const RunReport& report) {
  std::vector<int> reasons;
  for (int reason = 0; reason < kReasonCount; ++reason) {
    if (report.failures[std::size_t(reason)] > 0) reasons.push_back(reason);
  }
  const auto count = [&](int reason) { return report.failures[std::size_t(reason)]; };
  std::stable_sort(reasons.begin(), reasons.end(),
                   [&](int a, int b) { return count(a) > count(b); });
  std::string text;
  for (const int reason : reasons) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", grouped(count(reason)), to_string(Reason(reason)));
  }
  return text;
}

std::string rates_text(const RunReport& report) {
  return fmt::format("{} images/s, {} Mpixel/s; files: {} MB/s read, {} MB/s written",
                     measured_text(per_second(report, double(report.done))),
                     measured_text(per_second(report, 1e-6 * double(report.pixels))),
                     measured_text(per_second(report, 1e-6 * double(report.input_bytes))),
                     measured_text(per_second(report, 1e-6 * double(report.output_bytes))));
}

/// The first few; the others are counted, and in the JSON.
std::string solver_lines(const std::vector<SolverRow>& solvers) {
  constexpr std::size_t kMost = 3;
  std::string lines;
  for (std::size_t i = 0; i < std::min(kMost, solvers.size()); ++i) {
    const SolverRow& row = solvers[i];
    lines +=
        labelled(i == 0 ? "solver" : "", fmt::format("{} x {}, rank {}: {} ({})", row.rows,
                                                     row.cols, row.rank, row.solver, row.reason));
  }
  if (solvers.size() > kMost) {
    lines += labelled("", fmt::format("and for {} more: see --json", solvers.size() - kMost));
  }
  return lines;
}

std::string stage_table(const std::vector<StageRow>& stages) {
  constexpr std::string_view kRow = "{:<11} {:>7} {:>7} {:>17} {:>16}\n";
  std::string table =
      fmt::format(kRow, "stage", "threads", "busy", "waiting for input", "waiting for room");
  for (const StageRow& stage : stages) {
    const double total = total_s(stage);
    const auto share = [&](double s) { return total > 0 ? percent_text(s / total) : "-"; };
    table += fmt::format(kRow, stage.name, stage.workers, share(stage.busy_s),
                         share(stage.waiting_for_input_s), share(stage.waiting_for_room_s));
  }
  return table;
}

}  // namespace

std::string verdict(const RunReport& report) { return bottleneck(report).text; }

std::string to_text(const RunReport& report) {
  std::string text;
  if (!report.stopped_by.empty()) {
    text += labelled(
        "STOPPED", printable_message(report.stopped_by) + "; what follows is what was done before");
  } else if (report.interrupted) {
    text += labelled("INTERRUPTED", "not every input was processed; what follows is what was");
  }
  text += labelled("images", images_text(report));
  if (report.failed > 0) text += labelled("failures", failures_text(report));
  if (report.outputs > 0) {
    const std::string loss =
        std::isfinite(report.most_loss_db)
            ? fmt::format("each within {:.1g} dB of the optimum", report.most_loss_db)
            : "no bound on what some have lost";
    text += labelled("outputs", fmt::format("{}; PSNR {:.2f} dB mean, {:.2f} dB lowest, {}",
                                            grouped(report.outputs), report.psnr_db_mean,
                                            report.psnr_db_min, loss));
  }
  text += labelled("time", wall_time_text(report.wall_s));
  if (report.done > 0 && report.wall_s > 0) text += labelled("rate", rates_text(report));
  if (!report.backend.empty()) {
    text += labelled("backend", report.backend_note.empty()
                                    ? report.backend
                                    : fmt::format("{}: {}", report.backend, report.backend_note));
  }
  text += solver_lines(report.solvers);
  if (!report.stages.empty()) text += fmt::format("\n{}\n", stage_table(report.stages));
  if (const std::string sentence = verdict(report); !sentence.empty()) {
    text += labelled("verdict", sentence);
  }
  if (report.planes_done_again > 0) {
    text +=
        labelled("note", fmt::format("{} of {} planes were done again by a finer solver",
                                     grouped(report.planes_done_again), grouped(report.planes)));
  }
  for (const std::string& remark : report.remarks) text += labelled("note", remark);
  return text;
}

}  // namespace eckart::telemetry
