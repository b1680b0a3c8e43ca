#include "pipeline/write.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/comparison.hpp"
#include "analysis/residual.hpp"
#include "codec/factors_file.hpp"
#include "codec/output_metadata.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/positive_number.hpp"
#include "ledger/records.hpp"
#include "pipeline/color_planes.hpp"
#include "pipeline/output_quality.hpp"
#include "pipeline/output_stamp.hpp"
#include "pipeline/stored_range.hpp"
#include "preparation/gray.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

std::chrono::nanoseconds time_between_stages(const WorkItem& item) {
  return Clock::now() - item.found_at - item.load_time - item.compute_time;
}

/// What can be measured of the item: nothing without its pixels.
MeasureOptions available_measurements(const WorkItem& item, const MeasureOptions& options) {
  return item.has_known_pixels() ? options : MeasureOptions();
}

/// The file of an output, and what was measured of it.
struct EncodedOutput {
  EncodedFile file;
  OutputQuality quality{};
};

/// In the color mode luma, the image of the factors is that of the luma.
std::vector<std::byte> factors_file(const WorkItem& item, FactorType type) {
  const auto encode = [&](const ImageShape& shape, const SampleStatistics& samples) {
    return codec::encode_factors(shape, item.color, samples, item.task.factors, type);
  };
  if (item.samples) return encode(item.image_shape, *item.samples);
  if (item.color != ColorMode::luma)
    return encode(item.image_shape, analysis::sample_statistics(item.task.input));
  const Image luma = preparation::gray_of(item.task.input);
  return encode(luma.shape(), analysis::sample_statistics(luma));
}

/// Encodes outputs of one item.
class OutputEncoder {
 public:
  OutputEncoder(const WorkItem& item, const codec::Codec* codec, const WriteOptions& options)
      : item_(item),
        codec_(codec),
        options_(options),
        measure_(available_measurements(item, options.measure)) {}

  EncodedOutput encode(std::size_t output) {
    const Instant begin = Clock::now();
    if (item_.is_factors(output)) return encode_factors(output, begin);
    return item_.is_residual(output) ? encode_residual(output, begin)
                                     : encode_reconstruction(output, begin);
  }
  /// The metadata that could not be written, for messages.
  const std::string& dropped() const { return dropped_; }

 private:
  EncodedOutput encode_reconstruction(std::size_t output, Instant begin) {
    EncodedOutput encoded{.file = reconstruction_file(output)};
    const auto write_time = Clock::now() - begin;
    encoded.quality = measure(output, encoded.file);
    encoded.quality.write_time = write_time;
    return encoded;
  }

  EncodedFile reconstruction_file(std::size_t output) {
    const Image& pixels = item_.task.outputs[output];
    const Metadata metadata =
        codec::output_metadata(item_.metadata, options_.metadata, *codec_, pixels.shape());
    dropped_ = metadata.dropped;  // the same for all outputs
    const std::vector<TextEntry> stamp = output_stamp(item_, output, options_.stamp);
    const PictureView picture(pixels, item_.alpha, metadata, stamp);
    if (!item_.is_encoded_by_backend(output)) return {codec_->encode(picture, options_.encode)};
    codec::HeadAndTail ends = codec_->encode_head_and_tail(picture, options_.encode);
    return {std::move(ends.head), item_.task.encoded_outputs[output].data, std::move(ends.tail)};
  }

  OutputQuality measure(std::size_t output, const EncodedFile& file) const {
    return measure_output(item_.task, output, output_errors(item_, output).squared_error, *codec_,
                          file, measure_);
  }

  /// The quality of an output, which may be of an earlier run.
  OutputQuality reconstruction_quality(std::size_t output) {
    if (!item_.is_output_skipped(output)) return quality_of(item_, output);
    const bool needs_file = measure_.is_lossy && (measure_.files || measure_.pixels);
    return measure(output, needs_file ? reconstruction_file(output) : EncodedFile());
  }

  /// Its quality is that of the reconstruction.
  EncodedOutput encode_residual(std::size_t output, Instant begin) {
    const std::size_t rank = item_.rank_index(output);
    const Image& original = item_.task.input;
    const Image& reconstruction = item_.task.outputs[rank];
    const double gain = options_.residual.gain == ResidualGain::number
                            ? options_.residual.number
                            : analysis::largest_residual_gain(original, reconstruction);
    std::vector<TextEntry> stamp = output_stamp(item_, output, options_.stamp);
    if (!stamp.empty()) stamp.push_back({"eckart:residual_gain", shortest_text(gain)});
    const Image pixels = analysis::residual_image(original, reconstruction, gain);
    EncodedOutput encoded{
        {codec_->encode(PictureView(pixels, Image(), Metadata(), stamp), options_.encode)},
        reconstruction_quality(rank)};
    encoded.quality.residual_gain = gain;
    encoded.quality.write_time = Clock::now() - begin;
    return encoded;
  }

  /// Their quality is that of the reconstruction with the most triplets.
  EncodedOutput encode_factors(std::size_t output, Instant begin) const {
    EncodedOutput encoded{.file = {factors_file(item_, options_.factors)}};
    const auto write_time = Clock::now() - begin;
    encoded.quality = measure_output(item_.task, item_.rank_index(output), measure_);
    encoded.quality.write_time = write_time;
    return encoded;
  }

  const WorkItem& item_;
  const codec::Codec* codec_;
  const WriteOptions& options_;
  const MeasureOptions measure_;
  std::string dropped_;
};

}  // namespace

void encode_outputs(WorkItem& item, const codec::Codec* codec, const WriteOptions& options) {
  restore_colors(item);
  clamp_outputs_to_stored_bits(item);
  item.publication.clear();  // from a previous attempt
  item.qualities.clear();
  item.wait_time = time_between_stages(item);
  item.output_bytes.clear();
  item.output_mtimes_ns.clear();
  item.backend_encoded_outputs = 0;
  const std::optional<std::int64_t> mtime_ns =
      options.keeps_times ? std::optional(item.file_state.mtime_ns) : std::nullopt;
  OutputEncoder encoder(item, codec, options);
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_output_skipped(i)) {
      item.output_mtimes_ns.push_back(0);
      item.output_bytes.push_back(0);
      item.qualities.emplace_back();
      continue;
    }
    EncodedOutput encoded = encoder.encode(i);
    const Instant begin = Clock::now();
    item.output_mtimes_ns.push_back(ledger::recorded_mtime(item.publication.add(
        item.outputs[i], encoded.file.parts(), mtime_ns, options.temporary_name)));
    encoded.quality.write_time += Clock::now() - begin;
    item.output_bytes.push_back(std::int64_t(encoded.file.size()));
    if (item.is_encoded_by_backend(i)) ++item.backend_encoded_outputs;
    item.qualities.push_back(encoded.quality);
  }
  if (!encoder.dropped().empty())
    spdlog::warn("{}: metadata not written: {}", text::printable(item.file.native()),
                 encoder.dropped());
}

std::vector<EncodedFile> encode_in_memory(WorkItem& item, const codec::Codec* codec,
                                          const WriteOptions& options) {
  restore_colors(item);
  clamp_outputs_to_stored_bits(item);
  OutputEncoder encoder(item, codec, options);
  std::vector<EncodedFile> files;
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (!item.is_output_skipped(i)) files.push_back(encoder.encode(i).file);
  }
  return files;
}

void measure_outputs(WorkItem& item, const MeasureOptions& options) {
  restore_colors(item);
  clamp_outputs_to_stored_bits(item);
  item.wait_time = time_between_stages(item);
  const MeasureOptions available = available_measurements(item, options);
  for (std::size_t i = 0; i < item.outputs.size(); ++i)
    item.qualities.push_back(item.is_output_skipped(i) ? OutputQuality()
                                                       : measure_output(item.task, i, available));
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

void advance_published(std::span<WorkItem* const> items) {
  for (WorkItem* item : items) {
    if (!item->publication.is_published()) continue;
    item->advance(ItemState::published);
    // The backend can use its memory for the next batch.
    for (auto& output : item->task.encoded_outputs) output.data = {};
  }
}

/// Records the published items of the group, and intents of the items `next`.
void record(std::span<ItemPtr> group, std::span<WorkItem* const> next, OutputOwner& owner) {
  const std::vector<WorkItem*> published =
      items_between(group, ItemState::published, ItemState::recorded);
  owner.record(published, next);
  for (WorkItem* item : published) {
    item->advance(ItemState::recorded);
    if (!item->outcome.ok() || item->unavailable_outputs.empty()) continue;
    item->is_partly_done = true;
    item->outcome =
        Outcome::failed(Stage::load, FailureReason::unsupported, item->unavailable_reason);
  }
}

}  // namespace

void publish_outputs(std::span<ItemPtr> group, OutputOwner& owner, bool durable) {
  owner.check_in_place();
  const std::vector<WorkItem*> items = items_between(group, ItemState::found, ItemState::published);
  record(group, items, owner);
  if (items.empty()) return;
  try {
    publish(items, owner, durable);
  } catch (const EnvironmentError&) {
    abandon_unpublished(items, owner);
    advance_published(items);
    record(group, {}, owner);
    throw;
  }
  owner.check_in_place();
  advance_published(items);
}

}  // namespace eckart::pipeline
