// The result of `eckart bench pipeline` as JSON; docs/reference/bench.md describes the keys.
#include <cmath>

#include "bench/pipeline_result.hpp"
#include "build_id/build_id.hpp"
#include "machine/machine_info.hpp"
#include "machine/unix_time.hpp"
#include "text/json.hpp"

namespace eckart::bench {
namespace {

using text::Json;

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// Null if it is not known.
Json positive_or_null(double number) { return number > 0 ? text::finite_or_null(number) : Json(); }

Json spread_json(const Spread& values) {
  return {{"median", values.median}, {"min", values.min}, {"max", values.max}};
}

Json rows_json(const std::vector<PipelineRow>& rows) {
  Json json = Json::array();
  for (const PipelineRow& row : rows) {
    const bool has_rate = row.is_measured() && row.worker == Worker::cpu;
    json.push_back({{"name", row.name},
                    {"part_of", text_or_null(row.part_of)},
                    {"durability", text_or_null(row.durability)},
                    {"threads", row.threads},
                    {"on_gpu", row.worker == Worker::gpu},
                    {"images_per_s", has_rate ? spread_json(row.per_s()) : Json()},
                    {"cpu_us_per_image", has_rate ? Json(row.cpu_us_per_image()) : Json()}});
  }
  return json;
}

Json spread_json(const std::vector<WholeRun>& rounds, double WholeRun::*value) {
  return spread_json(spread(rounds, value));
}

Json whole_json(const PipelineResult& result) {
  Json json = Json::array();
  for (std::size_t i = 0; i < result.whole.size(); ++i) {
    const PipelineResult::Whole& whole = result.whole[i];
    if (whole.rounds.empty()) continue;
    const PipelineLimits limits = result.limits(i);
    const auto ratio = [&](double per_s) {
      return per_s > 0 && std::isfinite(per_s) ? Json(limits.whole_per_s / per_s) : Json();
    };
    json.push_back(
        {{"durability", whole.durability},
         {"images", whole.rounds.back().images},
         {"images_per_s", spread_json(whole.rounds, &WholeRun::images_per_s)},
         {"images_per_s_with_start", spread_json(whole.rounds, &WholeRun::images_per_s_with_start)},
         {"start_s", spread_json(whole.rounds, &WholeRun::start_s)},
         {"cpu_us_per_image", spread_json(whole.rounds, &WholeRun::cpu_us_per_image)},
         {"slowest_stage", limits.slowest_stage ? Json(limits.slowest_stage->name) : Json()},
         {"slowest_stage_images_per_s", positive_or_null(limits.slowest_stage_per_s)},
         {"cores_images_per_s", positive_or_null(limits.cores_per_s)},
         {"file_system_images_per_s", positive_or_null(limits.file_system_per_s)},
         {"ratio_to_slowest_stage", ratio(limits.slowest_stage_per_s)},
         {"ratio_to_cores", ratio(limits.cores_per_s)},
         {"ratio_to_file_system", ratio(limits.file_system_per_s)}});
  }
  return json;
}

Json settings_json(const PipelineResult& result) {
  Json json = Json::object();
  for (const auto& [key, value] : result.settings) json[key] = value;
  return json;
}

}  // namespace

std::string to_json(const PipelineResult& result) {
  const machine::MachineInfo machine = machine::machine_info();
  const Json json = {{"kind", "pipeline"},
                     {"time", machine::utc_timestamp(machine::unix_now_s())},
                     {"version", ECKART_VERSION},
                     {"build_id", build_id()},
                     {"cpu", machine.cpu},
                     {"cores", result.cores},
                     {"backend", result.backend},
                     {"device", text_or_null(result.device)},
                     {"driver", text_or_null(result.driver)},
                     {"settings", settings_json(result)},
                     {"files", result.files},
                     {"input_bytes_per_image", result.image.input_bytes},
                     {"output_bytes_per_image", result.image.output_bytes},
                     {"outputs_per_image", result.image.outputs},
                     {"decoded_on_gpu", result.image.decoded_on_gpu},
                     {"encoded_on_gpu", result.image.encoded_on_gpu},
                     {"seconds", result.seconds},
                     {"rounds", result.rounds()},
                     {"stages", rows_json(result.stages)},
                     {"whole", whole_json(result)},
                     {"file_system", rows_json(result.file_system)},
                     {"conclusion", conclusion(result)}};
  return text::dump_json(json);
}

}  // namespace eckart::bench
