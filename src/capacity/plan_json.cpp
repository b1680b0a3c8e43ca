#include <nlohmann/json.hpp>

#include "capacity/plan.hpp"
#include "capacity/sentences.hpp"
#include "core/printable.hpp"

namespace eckart::capacity {
namespace {

using Json = nlohmann::ordered_json;  // keys in the order of docs/capacity.md

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json interval_json(const Interval& interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

Json runs_json(const std::vector<Measured>& measured) {
  Json runs = Json::array();
  for (const Measured& run : measured) {
    runs.push_back({{"run", run.run},
                    {"cores", run.cores},
                    {"gpus", run.gpus},
                    {"images", run.images},
                    {"elapsed_s", run.elapsed_s},
                    {"images_per_s", run.rate_per_s},
                    {"relative_error", run.rate_error},
                    {"intervals", run.intervals},
                    {"cores_used", run.cores_used()},
                    {"core_s_per_image", run.core_s()},
                    {"cpu_s_per_image", run.cpu_s},
                    {"core_share", run.core_share},
                    {"gpu_share", run.gpu_share},
                    {"saturated", run.saturated.empty() ? Json() : Json(run.saturated)}});
  }
  return runs;
}

Json bounds_json(const Plan& plan) {
  Json bounds = Json::array();
  for (const Bound& bound : plan.bounds) {
    bounds.push_back({{"resource", bound.resource},
                      {"servers", bound.servers},
                      {"demand_s", bound.demand_s},
                      {"busy", bound.busy},
                      {"images_per_s", interval_json(bound.rate_per_s)},
                      {"is_at_least", bound.is_at_least}});
  }
  return bounds;
}

Json scaling_json(const Scaling& scaling) {
  if (!scaling.is_known) return {};
  Json speedups = Json::array();
  for (const Speedup& speedup : scaling.speedups) {
    speedups.push_back({{"cores", speedup.cores},
                        {"amdahl", interval_json(speedup.amdahl)},
                        {"gustafson", speedup.gustafson}});
  }
  return {{"cores", scaling.cores},
          {"serial_fraction_measured",
           scaling.measured ? interval_json(scaling.measured->ratio) : Json()},
          {"serial_fraction", interval_json(scaling.serial)},
          {"gustafson_serial_share",
           scaling.is_scaled_known ? interval_json(scaling.scaled_serial) : Json()},
          {"gustafson_runs", scaling.scaled_runs},
          {"speedups", speedups}};
}

Json prediction_json(const Prediction& prediction) {
  return {{"cores", prediction.cores},
          {"gpus", prediction.gpus},
          {"images_per_s", interval_json(prediction.rate_per_s)},
          {"limit", prediction.limit}};
}

Json predictions_json(const Plan& plan) {
  Json predictions = Json::array();
  for (const Predicted& predicted : plan.predictions) {
    Json json = prediction_json(predicted);
    json["is_upper_bound"] = predicted.is_at_most;
    json["measured_images_per_s"] = or_null(predicted.measured_per_s);
    predictions.push_back(json);
  }
  return predictions;
}

Json little_json(const std::optional<LittlesLaw>& little) {
  if (!little) return {};
  return {{"images_per_s", little->rate_per_s},
          {"in_system_s", little->mean_in_system_s},
          {"expected_unfinished", little->expected_unfinished()},
          {"unfinished", little->mean_unfinished}};
}

Json target_json(const std::optional<TargetAnswer>& target) {
  if (!target) return {};
  Json needs = Json::array();
  for (const Need& need : target->needs) {
    needs.push_back({{"gpus", need.gpus},
                     {"cores", or_null(need.cores)},
                     {"sure_cores", or_null(need.sure_cores)},
                     {"limit", need.limit.empty() ? Json() : Json(need.limit)}});
  }
  return {{"images_per_s", target->rate_per_s}, {"headroom", target->headroom}, {"needs", needs}};
}

}  // namespace

std::string to_json(const Plan& plan) {
  const auto per_joule = [&] { return 1 / *plan.present.joules_per_image; };
  const Json json = {
      {"verdict", verdict_sentence(plan)},
      {"notes", notes(plan)},
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
      {"runs", runs_json(plan.runs)},
      {"others", runs_json(plan.others)},
      {"saturated", plan.present.saturated.empty() ? Json() : Json(plan.present.saturated)},
      {"images_per_s", plan.present.rate_per_s},
      {"capacity", prediction_json(plan.here)},
      {"capacity_is_at_least", plan.is_too_little() || plan.here.limit == "disk"},
      {"noise", plan.noise},
      {"bounds", bounds_json(plan)},
      {"littles_law", little_json(plan.present.little)},
      {"scaling", scaling_json(plan.scaling)},
      {"predictions", predictions_json(plan)},
      {"one_more_core_images_per_s", plan.gain_per_s(plan.one_more_core)},
      {"one_more_gpu_images_per_s",
       plan.one_more_gpu ? Json(plan.gain_per_s(*plan.one_more_gpu)) : Json()},
      {"images", or_null(plan.images)},
      {"images_take_s", or_null(plan.images_take_s)},
      {"target", target_json(plan.target)},
      {"peak_images_per_s", plan.peak_per_s},
      {"headroom_at_peak", plan.headroom()},
      {"joules_per_image", or_null(plan.present.joules_per_image)},
      {"images_per_joule", plan.present.joules_per_image ? Json(per_joule()) : Json()},
  };
  return printable_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace eckart::capacity
