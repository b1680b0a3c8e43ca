#include <string>
#include <utility>

#include "reports/bottleneck_text.hpp"
#include "reports/failures_json.hpp"
#include "reports/not_read_json.hpp"
#include "reports/run_report_derived.hpp"
#include "reports/run_report_text.hpp"
#include "text/json.hpp"

namespace eckart::reports {
namespace {

text::Json solvers_json(const telemetry::RunReport& report) {
  text::Json solvers = text::Json::array();
  for (const telemetry::SolverChoiceStats& row : report.solvers) {
    solvers.push_back({{"rows", row.rows},
                       {"cols", row.cols},
                       {"rank", row.rank},
                       {"planes_per_batch", row.planes_per_batch},
                       {"solver", row.solver},
                       {"reason", row.explanation}});
  }
  return solvers;
}

text::Json stages_json(const telemetry::RunReport& report) {
  text::Json stages = text::Json::array();
  for (const telemetry::StageStats& stage : report.stages) {
    stages.push_back({{"name", to_string(stage.stage)},
                      {"workers", stage.workers},
                      {"busy_s", stage.busy_s},
                      {"waiting_for_input_s", stage.waiting_for_input_s},
                      {"blocked_s", stage.blocked_s},
                      {"cpu_s", stage.cpu_s},
                      {"busy_ratio", telemetry::busy_ratio(stage)}});
  }
  return stages;
}

/// Adds mean, median and minimum; null if not all outputs have the value.
void add_statistic(text::Json& json, const std::string& name, const telemetry::Statistic& values,
                   std::int64_t outputs) {
  const bool is_known = outputs > 0 && values.count() == outputs;
  json[name + "_mean"] = is_known ? text::Json(values.mean()) : text::Json();
  json[name + "_median"] = is_known ? text::Json(values.median()) : text::Json();
  json[name + "_min"] = is_known ? text::Json(values.min()) : text::Json();
}

text::Json ranks_json(const telemetry::RunReport& report) {
  text::Json ranks = text::Json::array();
  for (const telemetry::RankSummary& rank : report.ranks) {
    text::Json json{{"rank", rank.rank}, {"outputs", rank.outputs}};
    add_statistic(json, "psnr_db", rank.psnr_db, rank.outputs);
    add_statistic(json, "file_psnr_db", rank.file_psnr_db, rank.outputs);
    add_statistic(json, "ssim", rank.ssim, rank.outputs);
    json["output_bytes"] = rank.output_bytes;
    json["compute_s"] = rank.compute_s;
    json["write_s"] = rank.write_s;
    ranks.push_back(std::move(json));
  }
  return ranks;
}

}  // namespace

std::string to_json(const telemetry::RunReport& report) {
  const bool has_outputs = report.outputs > 0;
  const telemetry::Bottleneck bottleneck = find_bottleneck(report);
  const text::Json json = {
      {"kind", "summary"},
      {"done", report.done},
      {"failed", report.failed},
      {"skipped", report.skipped},
      {"ignored", report.ignored},
      {"not_read", not_read_json(report.not_read)},
      {"failures", failures_json(report)},
      {"interrupted", report.interrupted},
      {"stopped_by", report.stopped_by.empty() ? text::Json() : text::Json(report.stopped_by)},
      {"outputs", report.outputs},
      {"psnr_db_mean", has_outputs ? text::Json(report.psnr_db_mean) : text::Json()},
      {"psnr_db_min", has_outputs ? text::Json(report.psnr_db_min) : text::Json()},
      {"ranks", ranks_json(report)},
      {"max_loss_estimate_db",
       has_outputs ? text::Json(report.max_loss_estimate_db) : text::Json()},
      {"max_loss_bound_db", has_outputs ? text::Json(report.max_loss_bound_db) : text::Json()},
      {"planes", report.planes},
      {"planes_recomputed", report.planes_recomputed},
      {"decoded_on_gpu", report.decoded_on_gpu},
      {"encoded_on_gpu", report.encoded_on_gpu},
      {"pixels", report.pixels},
      {"input_bytes", report.input_bytes},
      {"output_bytes", report.output_bytes},
      {"wall_s", report.wall_s},
      {"images_per_s", per_second(report, double(report.done))},
      {"pixels_per_s", per_second(report, double(report.pixels))},
      {"input_bytes_per_s", per_second(report, double(report.input_bytes))},
      {"output_bytes_per_s", per_second(report, double(report.output_bytes))},
      {"cores", report.machine.cores},
      {"cpu_s", report.cpu_s},
      {"backend", report.backend},
      {"backend_details", report.backend_details},
      {"backend_reason", report.backend_reason},
      {"solvers", solvers_json(report)},
      {"stages", stages_json(report)},
      {"bottleneck", bottleneck.resource ? text::Json(telemetry::short_name(*bottleneck.resource))
                                         : text::Json()},
      {"bottleneck_text", bottleneck_text(bottleneck, report.machine.cores)},
      {"warnings", report.warnings},
  };
  return text::dump_json(json);
}

}  // namespace eckart::reports
