#include "simulation/report.hpp"
#include "text/json.hpp"

namespace eckart::simulation {

std::string to_json(const Simulated& simulated) {
  const auto& [scenario, result] = simulated;
  const text::Json shares = {{"nodes", result.shares[Limit::nodes]},
                             {"startup", result.shares[Limit::startup]},
                             {"dispatch", result.shares[Limit::dispatch]},
                             {"storage_read", result.shares[Limit::storage_read]},
                             {"storage_write", result.shares[Limit::storage_write]},
                             {"storage_files", result.shares[Limit::storage_files]},
                             {"last_shards", result.shares[Limit::last_shards]},
                             {"failures", result.shares[Limit::failures]},
                             {"merge", result.shares[Limit::merge]}};
  const text::Json json = {{"kind", "simulate"},
                           {"nodes", scenario.nodes},
                           {"images", scenario.batch.images},
                           {"shards", result.shards},
                           {"input_bytes_per_image", scenario.batch.input_bytes},
                           {"output_bytes_per_image", scenario.batch.output_bytes},
                           {"node_images_per_s", scenario.node.images_per_s},
                           {"startup_s", scenario.node.startup_s},
                           {"seed", scenario.seed},
                           {"makespan_s", result.makespan_s},
                           {"merge_s", result.merge_s},
                           {"images_per_s", result.images_per_s},
                           {"efficiency", result.efficiency},
                           {"limit", to_string(result.limit())},
                           {"shares", shares},
                           {"failures", result.failures},
                           {"images_written", result.images_written},
                           {"images_repeated", result.images_repeated}};
  return text::dump_json(json);
}

}  // namespace eckart::simulation
