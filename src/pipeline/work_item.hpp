#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "core/outcome.hpp"
#include "files/file_state.hpp"
#include "flow/budget.hpp"
#include "flow/channel.hpp"
#include "io/publication.hpp"
#include "io/rooted_file.hpp"
#include "pipeline/item_state.hpp"
#include "pipeline/meters.hpp"

namespace eckart {

class OutputOwner;

/// One image on its way through the pipeline. Owned by one thread at a time.
struct WorkItem {
  std::int64_t number = 0;         ///< in the order of arrival, from 1 on
  std::filesystem::path file;      ///< for messages and the ledger where `below` is set
  io::RootedFile rooted_file;      ///< of a watch: the only way to the file
  std::filesystem::path relative;  ///< its place in the mirrored tree
  int job = 0;                     ///< as its arrival has it, and the next
  bool is_last_attempt = true;
  std::vector<std::filesystem::path> outputs;  ///< one a rank
  flow::Budget::Reservation reservation;       ///< file and decoding, then pixels
  Task task;
  std::vector<std::size_t>
      full_rank_outputs{};                  ///< outputs that are the input, not in the task yet
  bool is_full_rank = false;                ///< without the backend: all ranks are full
  ItemState state = ItemState::found;       ///< changed by advance() alone
  std::shared_ptr<OutputOwner> owner;       ///< of its outputs, where that may end before the item
  io::Publication publication;              ///< between write and publish
  bool is_suspect = false;                  ///< was computed when a device was lost
  Instant found_at{}, entered_at{};         ///< since: in the queue or stage where it is
  std::chrono::nanoseconds write_time{0};   ///< what writing and publishing it took
  FileState file_state;                     ///< before the file was read
  io::FileIdentity identity;                ///< likewise, where `below` is set: which file was read
  bool needs_content_hash = false;          ///< the hash of what is read is wanted
  bool needs_input_update = false;          ///< done before, as another path or state of its input
  std::vector<std::string> original_paths;  ///< as InputIdentity has it
  std::string content_hash;                 ///< io::content_hash() of the file; empty: not known
  std::int64_t input_bytes = 0;             ///< of the file read
  std::vector<std::int64_t> output_bytes;   ///< of each file written; 0 where it was done before
  std::vector<std::int64_t> output_mtimes_ns;  ///< likewise
  /// Of each output that an earlier run has made and that stays as it is: what a report has of it.
  std::vector<std::optional<std::string>> skipped_reports;
  Outcome outcome;

  /// Throws std::logic_error where this transition is not legal.
  void advance(ItemState next) { eckart::advance(state, next, outcome.ok()); }

  bool is_output_skipped(std::size_t output) const {
    return output < skipped_reports.size() && skipped_reports[output].has_value();
  }
};
using ItemPtr = std::unique_ptr<WorkItem>;
using ItemChannel = flow::Channel<ItemPtr>;

/// Items whose planes are padded to the same shape, and wanted at the same ranks.
struct Batch {
  BatchKey key;
  int planes = 0;
  int plane_capacity = 0;
  std::int64_t number = 0;  ///< in the order in which they were sent off, from 1 on
  Instant entered_at{};     ///< in the queue or stage where it is
  std::vector<ItemPtr> items{};
};
using BatchChannel = flow::Channel<Batch>;

}  // namespace eckart
