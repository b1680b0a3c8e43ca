#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "core/color_mode.hpp"
#include "core/instant.hpp"
#include "core/outcome.hpp"
#include "core/peak_choice.hpp"
#include "core/picture.hpp"
#include "core/rank_policy.hpp"
#include "files/file_state.hpp"
#include "flow/budget.hpp"
#include "flow/channel.hpp"
#include "io/publication.hpp"
#include "io/rooted_file.hpp"
#include "io/source.hpp"
#include "pipeline/item_state.hpp"
#include "pipeline/measure.hpp"
#include "pipeline/meters.hpp"

namespace eckart::pipeline {

class OutputOwner;

/// A file of factors that an earlier run has written.
struct KeptFactors {
  std::filesystem::path file;
  std::int64_t bytes = 0;
  double loss_estimate_db = 0;  ///< of their largest rank
};

/// One input image in the pipeline. Owned by one thread at a time.
struct WorkItem {
  std::int64_t number = 0;          ///< in order of arrival, from 1
  std::filesystem::path file;       ///< if `rooted_file` is set: for messages and the ledger only
  io::RootedFile rooted_file;       ///< for a file of a watch: all access uses this
  std::filesystem::path relative;   ///< path in the mirrored tree
  int job = 0;                      ///< from io::SourceItem
  io::FolderNames sibling_folders;  ///< from io::SourceItem
  int attempt = 1;                  ///< from io::SourceItem
  bool is_last_attempt = true;      ///< from io::SourceItem
  /// One for each rank. If residuals are written: then theirs, one for each rank. If factors are
  /// written: then theirs, one file; it may be the only one.
  std::vector<std::filesystem::path> outputs;
  /// There was no file at their paths when their folder was listed, at the start of the run.
  bool outputs_are_free = false;
  bool has_factors = false;                    ///< whether the last output has the factors
  std::span<const RankPolicy> output_ranks{};  ///< of the settings; set with the task
  flow::Budget::Reservation reservation;       ///< for file and decoder, later for pixels
  compute::Task task;
  ColorMode color = ColorMode::channels;
  ImageShape image_shape{};     ///< of the image, after its preparation
  ImageShape matrices_shape{};  ///< of the task's input while it is computed
  /// The image, while the task's input holds other numbers than its samples; otherwise empty.
  Image image;
  std::vector<OutputErrors> errors;  ///< of each output; empty: the sums of those of its planes
  Image alpha;                       ///< of the input; empty: opaque
  Metadata metadata;                 ///< of the input
  /// If the input has only factors (Task::known_factors): what is known of the samples.
  std::optional<SampleStatistics> samples;
  /// The factors of this image that an earlier run has written, if they may be used.
  std::optional<KeptFactors> kept_factors;
  /// Indices of ranks that the backend does not compute, ascending; not in the task yet.
  std::vector<std::size_t> uncomputed_ranks{};
  std::optional<ImageFormat> undecoded_format = {};  ///< of a file that the backend decodes
  bool skips_backend = false;                        ///< all ranks are in uncomputed_ranks
  std::shared_ptr<OutputOwner> owner;        ///< of the outputs, if it may end before the item
  io::Publication publication;               ///< used between write and publish
  bool is_suspect = false;                   ///< was in flight when a GPU was lost
  Instant found_at{}, entered_at{};          ///< entered_at: entry into the current queue or stage
  std::chrono::nanoseconds load_time{0};     ///< time of reading and decoding
  std::chrono::nanoseconds compute_time{0};  ///< time of its batch, divided by the batch's images
  std::chrono::nanoseconds wait_time{0};     ///< between the stages, until it was written
  std::chrono::nanoseconds write_time{0};    ///< time of writing and publishing
  PeakSource peak_source = PeakSource::dtype;  ///< where Task::peak comes from
  std::vector<OutputQuality> qualities;     ///< of each output; those of skipped ones are unknown
  files::FileState file_state;              ///< before the file was read
  io::FileIdentity identity;                ///< if `rooted_file` is set: the file that was read
  bool needs_content_hash = false;          ///< whether to hash the bytes that are read
  bool needs_input_update = false;          ///< the ledger has another path or state of the input
  std::vector<std::string> original_paths;  ///< see InputIdentity
  std::string content_hash;                 ///< io::content_hash() of the file; empty if unknown
  std::int64_t input_bytes = 0;             ///< bytes read
  std::vector<std::int64_t> output_bytes;   ///< of each file written; 0 if skipped
  int backend_encoded_outputs = 0;          ///< of them
  std::vector<std::int64_t>
      output_mtimes_ns;  ///< ledger::recorded_mtime() of each file; 0 if skipped
  /// For each output that an earlier run made and this run keeps: its recorded report.
  std::vector<std::optional<std::string>> skipped_reports;
  /// Indices of outputs that this input cannot give, ascending: its factors have too few triplets.
  /// The others are made. Then the item fails with `unavailable_reason`.
  std::vector<std::size_t> unavailable_outputs{};
  std::string unavailable_reason{};
  bool is_partly_done = false;  ///< failed, but all outputs that it can give are done
  Outcome outcome;
  std::string disposal;  ///< what became of a failed input; logged after the outcome

  ItemState state() const { return state_; }
  /// Throws std::logic_error if the transition is not legal.
  void advance(ItemState next) { pipeline::advance(state_, next, outcome.ok()); }

  bool has_known_pixels() const { return !samples; }
  bool is_factors(std::size_t output) const { return has_factors && output + 1 == outputs.size(); }
  bool is_residual(std::size_t output) const {
    return !output_ranks.empty() && output >= output_ranks.size() && !is_factors(output);
  }
  /// Whether outputs have the reconstructions.
  bool has_reconstructions() const { return !has_factors || outputs.size() > 1; }
  /// The index of the output's rank: in output_ranks, and, after complete_outputs(), in the task's
  /// outputs and results. That of factors has the most triplets.
  std::size_t rank_index(std::size_t output) const {
    if (is_factors(output)) return index_of_most_triplets();
    return is_residual(output) ? output - output_ranks.size() : output;
  }
  /// Whether an earlier run made the output, and this run keeps it.
  bool is_output_kept(std::size_t output) const {
    return output < skipped_reports.size() && skipped_reports[output].has_value();
  }
  /// Whether this run does not make the output.
  bool is_output_skipped(std::size_t output) const {
    return is_output_kept(output) || std::ranges::binary_search(unavailable_outputs, output);
  }
  /// Whether the backend has encoded the pixels of the output.
  bool is_encoded_by_backend(std::size_t output) const {
    return output < task.encoded_outputs.size() && !task.encoded_outputs[output].data.empty();
  }
  /// Whether the factors are to be written.
  bool needs_factors() const { return has_factors && !is_output_skipped(outputs.size() - 1); }
  /// Whether the output or the residual of a rank is to be written, or the factors of all ranks.
  bool is_rank_needed(std::size_t rank) const {
    const std::size_t residual = rank + output_ranks.size();
    return needs_factors() || !is_output_skipped(rank) ||
           (residual < outputs.size() && is_residual(residual) && !is_output_skipped(residual));
  }

 private:
  std::size_t index_of_most_triplets() const {
    std::size_t index = 0;
    int most = 0;
    for (std::size_t i = 0; i < task.results.size(); ++i) {
      int triplets = 0;
      for (const compute::PlaneResult& plane : task.results[i]) triplets += plane.rank;
      if (triplets > most) index = i;
      most = triplets > most ? triplets : most;
    }
    return index;
  }

  ItemState state_ = ItemState::found;
};
using ItemPtr = std::unique_ptr<WorkItem>;
using ItemChannel = flow::Channel<ItemPtr>;

/// Items with the same padded plane shape and the same ranks.
struct Batch {
  compute::BatchKey key;
  int planes = 0;
  int plane_capacity = 0;
  std::int64_t number = 0;  ///< in the order of sending, from 1
  Instant entered_at{};     ///< entry into the current queue or stage
  std::vector<ItemPtr> items{};
};
using BatchChannel = flow::Channel<Batch>;

}  // namespace eckart::pipeline
