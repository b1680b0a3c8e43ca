#include "pipeline/write.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/instant.hpp"
#include "io/output_metadata.hpp"
#include "pipeline/color_planes.hpp"
#include "pipeline/output_quality.hpp"
#include "pipeline/output_stamp.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

std::chrono::nanoseconds time_between_stages(const WorkItem& item) {
  return Clock::now() - item.found_at - item.load_time - item.compute_time;
}

}  // namespace

void encode_outputs(WorkItem& item, const io::Codec& codec, const WriteOptions& options) {
  restore_colors(item);
  item.publication.clear();  // from a previous attempt
  item.qualities.clear();
  item.wait_time = time_between_stages(item);
  item.output_bytes.clear();
  item.output_mtimes_ns.clear();
  const std::optional<std::int64_t> mtime_ns =
      options.keeps_times ? std::optional(item.file_state.mtime_ns) : std::nullopt;
  std::string dropped;  // the same for all outputs
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_skipped(i)) {
      item.output_mtimes_ns.push_back(0);
      item.output_bytes.push_back(0);
      item.qualities.emplace_back();
      continue;
    }
    const Instant begin = Clock::now();
    const Image& pixels = item.task.outputs[i];
    const Metadata metadata =
        io::output_metadata(item.metadata, options.metadata, codec, pixels.shape());
    dropped = metadata.dropped;
    const std::vector<TextEntry> stamp = output_stamp(item, i, options.stamp);
    const std::vector<std::byte> file =
        codec.encode(PictureView(pixels, item.alpha, metadata, stamp), options.encode);
    item.output_mtimes_ns.push_back(item.publication.add(item.outputs[i], file, mtime_ns));
    item.output_bytes.push_back(std::int64_t(file.size()));
    const auto write_time = Clock::now() - begin;
    item.qualities.push_back(measure_output(item.task, i, output_errors(item, i).squared_error,
                                            codec, file, options.measure));
    item.qualities.back().write_time = write_time;
  }
  if (!dropped.empty())
    spdlog::warn("{}: metadata not written: {}", text::printable(item.file.native()), dropped);
}

void measure_outputs(WorkItem& item, const MeasureOptions& options) {
  restore_colors(item);
  item.wait_time = time_between_stages(item);
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    item.qualities.push_back(measure_output(item.task, i, options));
}

namespace {

/// Returns the items of the group with from <= state < to.
std::vector<WorkItem*> items_between(std::span<ItemPtr> group, ItemState from, ItemState to) {
  std::vector<WorkItem*> items;
  for (const ItemPtr& item : group) {
    if (item->state() >= from && item->state() < to) items.push_back(item.get());
  }
  return items;
}

/// Ignores ledger errors, because the original error is more useful. The next start of a service
/// removes the remaining intents.
void abandon_unpublished(std::vector<WorkItem*> items, OutputOwner& owner) try {
  owner.check_in_place();  // otherwise the state of the outputs is unknown
  std::erase_if(items, [](const WorkItem* item) { return item->publication.is_published(); });
  owner.abandon_intents(items);
} catch (const EnvironmentError&) {
} catch (const FatalError&) {
}

void publish(std::span<WorkItem* const> items, OutputOwner& owner, bool durable) {
  std::vector<io::Publication*> publications;
  for (WorkItem* item : items) publications.push_back(&item->publication);
  const io::PublishOptions options{
      .durable = durable,
      .resolve_collision = [&](std::size_t index, const auto& output, const auto& written) {
        return owner.resolve_collision(*items[index], output, written);
      }};
  io::publish(publications, options, [&](std::size_t index, const ItemError& error) {
    items[index]->outcome = Outcome::failed(Stage::write, error.reason(), error.what());
  });
}

void record_published(std::span<ItemPtr> group, OutputOwner& owner) {
  const std::vector<WorkItem*> published =
      items_between(group, ItemState::published, ItemState::recorded);
  owner.record(published);
  for (WorkItem* item : published) item->advance(ItemState::recorded);
}

}  // namespace

void publish_outputs(std::span<ItemPtr> group, OutputOwner& owner, bool durable) {
  owner.check_in_place();
  const std::vector<WorkItem*> items = items_between(group, ItemState::found, ItemState::published);
  owner.record_intents(items);
  const auto advance_published = [&] {
    for (WorkItem* item : items) {
      if (item->publication.is_published()) item->advance(ItemState::published);
    }
  };
  try {
    publish(items, owner, durable);
  } catch (const EnvironmentError&) {
    abandon_unpublished(items, owner);
    advance_published();
    record_published(group, owner);
    throw;
  }
  owner.check_in_place();
  advance_published();
  record_published(group, owner);
}

}  // namespace eckart::pipeline
