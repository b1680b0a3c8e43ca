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

/// "100,000,000 images (690 kB read, 608 kB written) in 20,000 shards. A node ..."
std::string batch_sentences(const Simulated& simulated) {
  const auto& [scenario, result] = simulated;
  const Batch& batch = scenario.batch;
  std::string text = fmt::format(
      "{} ({} read, {} written) in {}. A node alone does {}, after a start of {} for each shard.",
      text::format_count(batch.images, "image"), kilobytes(batch.input_bytes),
      kilobytes(batch.output_bytes), text::format_count(result.shards, "shard"),
      text::format_image_rate(scenario.node.images_per_s),
      text::format_duration(scenario.node.startup_s));
  if (result.merge_s > 0)
    text += fmt::format(" The time includes {} to merge the ledgers on one node.",
                        text::format_duration(result.merge_s));
  return text;
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
  std::string text = capacity::wrap("", batch_sentences(by_nodes.front()));
  text += capacity::text_table(table_of(by_nodes)) + "\nWhat limits\n";
  for (const std::string& sentence : limit_sentences(by_nodes))
    text += capacity::wrap("  - ", sentence);
  return text;
}

}  // namespace eckart::simulation
