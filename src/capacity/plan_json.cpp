#include <array>

#include "capacity/plan.hpp"
#include "capacity/plan_answer.hpp"
#include "capacity/plan_sentences.hpp"
#include "text/json.hpp"

namespace eckart::capacity {
namespace {

template <typename T>
text::Json value_or_null(const std::optional<T>& value) {
  return value ? text::Json(*value) : text::Json();
}

text::Json estimate_json(const Estimate& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

text::Json name_or_null(const std::optional<Resource>& resource) {
  return resource ? text::Json(to_string(*resource)) : text::Json();
}

text::Json runs_json(const std::vector<RunMeasurement>& measured) {
  text::Json runs = text::Json::array();
  for (const RunMeasurement& run : measured) {
    runs.push_back({{"run", run.run},
                    {"cores", run.cores},
                    {"gpus", run.gpus},
                    {"images", run.images},
                    {"elapsed_s", run.elapsed_s},
                    {"images_per_s", run.rate_per_s},
                    {"relative_standard_error", run.rate_standard_error},
                    {"intervals", run.intervals},
                    {"cores_used", run.cores_used()},
                    {"core_s_per_image", run.core_s_per_image()},
                    {"cpu_s_per_image", run.cpu_s_per_image},
                    {"core_utilization", run.core_utilization},
                    {"gpu_utilization", run.gpu_utilization},
                    {"saturated", name_or_null(run.saturated)}});
  }
  return runs;
}

text::Json bounds_json(const Plan& plan) {
  text::Json bounds = text::Json::array();
  for (const Bound& bound : plan.bounds) {
    bounds.push_back({{"resource", to_string(bound.resource)},
                      {"servers", bound.servers},
                      {"demand_s", bound.demand_s},
                      {"utilization", bound.utilization},
                      {"images_per_s", estimate_json(bound.rate_per_s)},
                      {"is_lower_bound", bound.is_lower_bound}});
  }
  return bounds;
}

text::Json scaling_json(const ScalingAnalysis& scaling) {
  if (!scaling.is_known) return {};
  text::Json speedups = text::Json::array();
  for (const Speedup& speedup : scaling.speedups) {
    speedups.push_back({{"cores", speedup.cores},
                        {"amdahl", estimate_json(speedup.amdahl)},
                        {"gustafson", speedup.gustafson}});
  }
  return {{"cores", scaling.cores},
          {"fitted_serial_fraction",
           scaling.measured ? estimate_json(scaling.measured->ratio) : text::Json()},
          {"serial_fraction", estimate_json(scaling.serial_fraction)},
          {"gustafson_serial_fraction", scaling.is_gustafson_known
                                            ? estimate_json(scaling.gustafson_serial_fraction)
                                            : text::Json()},
          {"gustafson_runs", scaling.gustafson_runs},
          {"speedups", speedups}};
}

text::Json prediction_json(const Prediction& prediction) {
  return {{"cores", prediction.cores},
          {"gpus", prediction.gpus},
          {"images_per_s", estimate_json(prediction.rate_per_s)},
          {"bottleneck", name_or_null(prediction.bottleneck)}};
}

text::Json predictions_json(const Plan& plan) {
  text::Json predictions = text::Json::array();
  for (const PredictionRow& predicted : plan.predictions) {
    text::Json json = prediction_json(predicted);
    json["is_upper_bound"] = predicted.is_upper_bound;
    json["measured_images_per_s"] = value_or_null(predicted.measured_per_s);
    predictions.push_back(json);
  }
  return predictions;
}

text::Json options_json(const Plan& plan) {
  static constexpr std::array<std::string_view, 3> kMeets = {"yes", "no", "unknown"};
  text::Json options = text::Json::array();
  for (const PlanOption& option : plan.options) {
    options.push_back(
        {{"name", option.name},
         {"machines", option.machines},
         {"cores", option.cores},
         {"gpus", option.gpus},
         {"images_per_s", estimate_json(option.rate_per_s)},
         {"is_lower_bound", option.is_lower_bound},
         {"is_upper_bound", option.is_upper_bound},
         {"is_measured_here", option.is_measured_here},
         {"meets_target", option.meets_target
                              ? text::Json(kMeets.at(std::size_t(*option.meets_target)))
                              : text::Json()},
         {"utilization", value_or_null(option.utilization)},
         {"watts", value_or_null(option.watts)},
         {"cost_per_month", value_or_null(option.cost_per_month)},
         {"cost_per_million_images", value_or_null(option.cost_per_million_images)}});
  }
  return options;
}

text::Json concurrent_runs_json(const std::optional<ConcurrentRuns>& runs) {
  if (!runs) return {};
  text::Json nodes = text::Json::array();
  for (const NodeRuns& node : runs->nodes) {
    nodes.push_back({{"host", node.host},
                     {"runs", node.runs},
                     {"most_at_once", node.most_at_once},
                     {"images", node.images},
                     {"busy_s", node.busy_s},
                     {"images_per_s", node.images_per_s()}});
  }
  return {{"nodes", nodes},
          {"runs", runs->runs},
          {"most_at_once", runs->most_at_once},
          {"images", runs->images},
          {"elapsed_s", runs->elapsed_s},
          {"images_per_s", runs->images_per_s()},
          {"idle_share", runs->idle_share},
          {"read_bytes_per_s", runs->read_bytes_per_s},
          {"written_bytes_per_s", runs->written_bytes_per_s},
          {"files_per_s", runs->files_per_s}};
}

text::Json little_json(const std::optional<LittlesLaw>& littles_law) {
  if (!littles_law) return {};
  return {{"images_per_s", littles_law->rate_per_s},
          {"mean_time_in_system_s", littles_law->mean_in_system_s},
          {"expected_unfinished", littles_law->expected_unfinished()},
          {"mean_unfinished", littles_law->mean_unfinished}};
}

text::Json target_json(const std::optional<TargetResult>& target) {
  if (!target) return {};
  text::Json requirements = text::Json::array();
  for (const Requirement& requirement : target->requirements) {
    requirements.push_back({{"gpus", requirement.gpus},
                            {"cores", value_or_null(requirement.cores)},
                            {"conservative_cores", value_or_null(requirement.conservative_cores)},
                            {"bottleneck", name_or_null(requirement.bottleneck)}});
  }
  return {{"images_per_s", target->rate_per_s},
          {"headroom", target->headroom},
          {"machines", target->machines},
          {"conservative_machines", target->conservative_machines},
          {"requirements", requirements}};
}

}  // namespace

std::string to_json(const Plan& plan) {
  const auto per_joule = [&] { return 1 / *plan.baseline.joules_per_image; };
  const Answer first = answer(plan);
  const text::Json json = {
      {"kind", "plan"},
      {"answer", {{"kind", to_string(first.kind)}, {"text", first.text}}},
      {"reasons", reasons(plan)},
      {"caveats", caveats(plan)},
      {"options", options_json(plan)},
      {"recorded_source", plan.is_recorded() ? text::Json(plan.recorded_source) : text::Json()},
      {"host", plan.host},
      {"cpu", plan.cpu},
      {"cores", plan.cores},
      {"gpus", plan.gpus},
      {"backend", plan.backend},
      {"device", plan.device},
      {"command", plan.command},
      {"settings", plan.settings},
      {"first_time", plan.first_time},
      {"last_time", plan.last_time},
      {"pixels_per_image", plan.pixels_per_image},
      {"input_bytes_per_image", plan.input_bytes_per_image},
      {"output_bytes_per_image", value_or_null(plan.output_bytes_per_image)},
      {"output_tb_per_month", value_or_null(plan.output_tb_per_month())},
      {"runs", runs_json(plan.runs)},
      {"held_out_runs", runs_json(plan.held_out_runs)},
      {"concurrent_runs", concurrent_runs_json(plan.concurrent_runs)},
      {"saturated", name_or_null(plan.baseline.saturated)},
      {"images_per_s", plan.baseline.rate_per_s},
      {"capacity", prediction_json(plan.current_capacity)},
      {"capacity_is_lower_bound", plan.is_lower_bound()},
      {"noise", plan.noise},
      {"bounds", bounds_json(plan)},
      {"littles_law", little_json(plan.baseline.littles_law)},
      {"scaling", scaling_json(plan.scaling)},
      {"predictions", predictions_json(plan)},
      {"one_more_core_gain_images_per_s", plan.gain_per_s(plan.one_more_core)},
      {"one_more_gpu_gain_images_per_s",
       plan.one_more_gpu ? text::Json(plan.gain_per_s(*plan.one_more_gpu)) : text::Json()},
      {"shift_s", plan.request.shift_s},
      {"images", value_or_null(plan.request.images)},
      {"images_duration_s", value_or_null(plan.images_duration_s)},
      {"target", target_json(plan.target)},
      {"peak_images_per_s", plan.peak_per_s},
      {"headroom_at_peak", plan.headroom()},
      {"joules_per_image", value_or_null(plan.baseline.joules_per_image)},
      {"images_per_joule", plan.baseline.joules_per_image ? text::Json(per_joule()) : text::Json()},
  };
  return text::dump_json(json);
}

}  // namespace eckart::capacity
