#include <spdlog/fmt/fmt.h>

#include "capacity/number_format.hpp"
#include "simulation/report.hpp"
#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"

namespace eckart::simulation {
namespace {

using Row = std::vector<Simulated>::const_iterator;

/// "1,449 images/s, as many as 2.9 nodes do"
std::string rate_clause(double images_per_s, const NodeModel& node) {
  const double nodes = images_per_s / node.images_per_s;
  const std::string rate = text::format_image_rate(images_per_s);
  if (nodes < 1) return fmt::format("{}, fewer than a node does", rate);
  return fmt::format("{}, as many as {} nodes do", rate, text::format_ratio(nodes));
}

/// "the storage reads 1,000 MB/s: 1,449 images/s, as many as 2.9 nodes do"
std::string bytes_clause(const char* verb, double bytes_per_s, double image_bytes,
                         const NodeModel& node) {
  return fmt::format("the storage {} {} MB/s: {}", verb, text::format_number(1e-6 * bytes_per_s),
                     rate_clause(bytes_per_s / image_bytes, node));
}

std::string last_shards_clause(const Simulated& at) {
  if (at.result.shards < at.scenario.nodes)
    return fmt::format("there are only {}. Smaller shards (--shard-images) or fewer nodes help",
                       text::format_count(at.result.shards, "shard"));
  return fmt::format(
      "nodes without a shard wait {} of the time for the last ones. Smaller shards "
      "(--shard-images) or fewer nodes help",
      capacity::format_percent(at.result.shares[Limit::last_shards]));
}

std::string explanation(const Simulated& at, Limit limit);

std::string merge_clause(const Simulated& at) {
  const Limit before = at.result.shares.largest_before_merge();
  return fmt::format(
      "one node merges the ledgers of all shards in {}. Only prune, export and later runs need "
      "that. Before it, the limit is {}: {}",
      text::format_duration(at.result.merge_s), to_string(before), explanation(at, before));
}

/// What limits, with numbers, and what helps.
std::string explanation(const Simulated& at, Limit limit) {
  const auto& [nodes, batch, node, storage, dispatched_per_s, merged_per_s, seed] = at.scenario;
  switch (limit) {
    case Limit::nodes:
      return "more or faster nodes help";
    case Limit::startup:
      return fmt::format(
          "the start for a shard takes {}, and its {} {}. Larger shards (--shard-images) help",
          text::format_duration(node.startup_s), text::format_count(batch.shard_images, "image"),
          text::format_duration(double(batch.shard_images) / node.images_per_s));
    case Limit::dispatch:
      return fmt::format(
          "the scheduler starts {} shards/s: {}. Larger shards (--shard-images) help, more nodes "
          "do not",
          text::format_number(dispatched_per_s),
          rate_clause(dispatched_per_s * double(batch.shard_images), node));
    case Limit::storage_read:
      return bytes_clause("reads", storage.read_bytes_per_s, batch.input_bytes, node) +
             ". Faster storage helps, more nodes do not";
    case Limit::storage_write:
      return bytes_clause("writes", storage.write_bytes_per_s, batch.output_bytes, node) +
             ". Faster storage or smaller outputs help, more nodes do not";
    case Limit::storage_files:
      return fmt::format(
          "the storage opens and creates {} files/s, {}: {}. {}Storage with more metadata "
          "operations "
          "helps, more nodes do not",
          text::format_number(storage.files_per_s),
          batch.has_archives ? "six for a shard" : "two for an image",
          rate_clause(storage.files_per_s / batch.files_per_image(), node),
          batch.has_archives ? "" : "Tar archives (--archives) help most. ");
    case Limit::last_shards:
      return last_shards_clause(at);
    case Limit::failures:
      return fmt::format("nodes are down {} of the time. Shorter repairs help",
                         capacity::format_percent(at.result.shares[Limit::failures]));
    case Limit::merge:
      return merge_clause(at);
  }
  return {};
}

/// "From 16 nodes on", "With 2 to 8 nodes"
std::string range_phrase(const std::vector<Simulated>& all, Row first, Row last) {
  const std::string from = text::format_count(first->scenario.nodes, "node");
  if (last + 1 == all.end() && first != last) return fmt::format("From {} on", from);
  if (first == last) return fmt::format("With {}", from);
  return fmt::format("With {} to {}", text::group_digits(first->scenario.nodes),
                     text::format_count(last->scenario.nodes, "node"));
}

}  // namespace

std::vector<std::string> limit_sentences(const std::vector<Simulated>& by_nodes) {
  std::vector<std::string> sentences;
  for (Row first = by_nodes.begin(); first != by_nodes.end();) {
    Row last = first;
    while (last + 1 != by_nodes.end() && (last + 1)->result.limit() == first->result.limit())
      ++last;
    sentences.push_back(fmt::format("{}, the limit is {}: {}.", range_phrase(by_nodes, first, last),
                                    to_string(first->result.limit()),
                                    explanation(*first, first->result.limit())));
    first = last + 1;
  }
  return sentences;
}

}  // namespace eckart::simulation
