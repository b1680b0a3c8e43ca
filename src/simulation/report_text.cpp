#include <spdlog/fmt/fmt.h>

#include "capacity/number_format.hpp"
#include "capacity/text_layout.hpp"
#include "simulation/report.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::simulation {
namespace {

std::string kilobytes(double bytes) { return text::format_number(1e-3 * bytes) + " kB"; }

/// "100,000,000 images (690 kB read, 608 kB written) in 20,000 shards; ..."
std::string batch_sentence(const Scenario& scenario) {
  const auto& [images, shard_images, input_bytes, output_bytes] = scenario.batch;
  return fmt::format(
      "{} ({} read, {} written) in {}. A node alone does {}, after a start of {} for each shard.",
      text::format_count(images, "image"), kilobytes(input_bytes), kilobytes(output_bytes),
      text::format_count(scenario.batch.shards(), "shard"),
      text::format_image_rate(scenario.node.images_per_s),
      text::format_duration(scenario.node.startup_s));
}

capacity::Table table_of(const std::vector<Simulated>& by_nodes) {
  capacity::Table table{.title = "Simulated",
                        .heads = {"nodes", "time", "images/s", "efficiency", "limit"},
                        .has_name_last = true};
  for (const auto& [scenario, result] : by_nodes)
    table.rows.push_back({{text::group_digits(scenario.nodes)},
                          {text::format_duration(result.makespan_s)},
                          {text::format_number(result.images_per_s)},
                          {capacity::format_percent(result.efficiency)},
                          {to_string(result.limit())}});
  return table;
}

}  // namespace

std::string to_text(const std::vector<Simulated>& by_nodes) {
  std::string text = capacity::wrap("", batch_sentence(by_nodes.front().scenario));
  text += capacity::text_table(table_of(by_nodes)) + "\nWhat limits\n";
  for (const std::string& sentence : limit_sentences(by_nodes))
    text += capacity::wrap("  - ", sentence);
  return text;
}

}  // namespace eckart::simulation
