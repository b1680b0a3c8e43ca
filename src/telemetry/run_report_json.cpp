#include "telemetry/json.hpp"
#include "telemetry/run_report.hpp"
#include "telemetry/run_report_figures.hpp"

namespace eckart::telemetry {
namespace {

Json solvers_json(const RunReport& report) {
  Json solvers = Json::array();
  for (const SolverRow& row : report.solvers) {
    solvers.push_back({{"rows", row.rows},
                       {"cols", row.cols},
                       {"rank", row.rank},
                       {"planes_per_batch", row.planes_per_batch},
                       {"solver", row.solver},
                       {"reason", row.reason}});
  }
  return solvers;
}

Json stages_json(const RunReport& report) {
  Json stages = Json::array();
  for (const StageRow& stage : report.stages) {
    stages.push_back({{"name", stage.name},
                      {"workers", stage.workers},
                      {"busy_s", stage.busy_s},
                      {"waiting_for_input_s", stage.waiting_for_input_s},
                      {"waiting_for_room_s", stage.waiting_for_room_s},
                      {"cpu_s", stage.cpu_s},
                      {"busy_share", busy_share(stage)}});
  }
  return stages;
}

}  // namespace

std::string to_json(const RunReport& report) {
  const bool measured = report.outputs > 0;
  const Bottleneck limit = bottleneck(report);
  const Json json = {
      {"done", report.done},
      {"failed", report.failed},
      {"skipped", report.skipped},
      {"ignored", report.ignored},
      {"failures", failures_json(report)},
      {"interrupted", report.interrupted},
      {"stopped_by", report.stopped_by.empty() ? Json() : Json(report.stopped_by)},
      {"outputs", report.outputs},
      {"psnr_db_mean", measured ? Json(report.psnr_db_mean) : Json()},
      {"psnr_db_min", measured ? Json(report.psnr_db_min) : Json()},
      {"most_loss_db", measured ? Json(report.most_loss_db) : Json()},
      {"planes", report.planes},
      {"planes_done_again", report.planes_done_again},
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
      {"backend_note", report.backend_note},
      {"solvers", solvers_json(report)},
      {"stages", stages_json(report)},
      {"bottleneck", limit.resource.empty() ? Json() : Json(limit.resource)},
      {"verdict", limit.text},
      {"remarks", report.remarks},
  };
  return text_of(json);
}

}  // namespace eckart::telemetry
