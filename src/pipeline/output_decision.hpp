#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/publication.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/input_match.hpp"
#include "pipeline/settings_change.hpp"

namespace eckart {

/// What is done with an output, from what exists at its path.
enum class OutputAction {
  create,     ///< nothing exists there, and nothing did
  skip,       ///< this output exists already
  reprocess,  ///< replace an earlier output of this input, or what --overwrite replaces
  compare,    ///< keep an existing file that has the same bytes; otherwise it is a collision
  reject,     ///< a collision: nothing is written there
};

struct OutputDecision {
  OutputAction action = OutputAction::create;
  std::string explanation{};        ///< a clause: "its input has changed"
  std::string report{};             ///< what the ledger has for a report, where it is the same
  bool has_other_settings = false;  ///< from this input as it is, with other settings
  bool is_modified_output =
      false;  ///< of what is unknown: a result of the same input, but changed since
  bool may_be_replaced = true;  ///< by --overwrite or --reprocess, if it is in the way
};

/// What there is of a path.
struct PathStatus {
  std::filesystem::file_type type = std::filesystem::file_type::not_found;
  std::int64_t bytes = 0;  ///< of a regular file
  std::int64_t mtime_ns = 0;
  /// What is not a directory though the path needs one there; empty where nothing is. Then nothing
  /// is found at the path.
  std::filesystem::path non_directory_parent{};
  int error = 0;  ///< errno where it cannot be told what is there; the type is `none` then
};
/// A link to a regular file is one.
PathStatus stat_path(const std::filesystem::path& path);
/// Throws if the status is unavailable for a reason that is not the path itself: EnvironmentError
/// if the disk or the machine fails, ItemError(not_written) if a folder above may not be searched.
void check_status_available(const std::filesystem::path& path, const PathStatus& path_status);

/// What the ledger has of an output.
struct RecordedOutput {
  std::optional<ledger::OutputEntry> entry{};
  bool is_intent = false;  ///< it was renamed to its place, but not recorded as done
};
/// Where what was announced is what stands there, that; else what is done.
RecordedOutput find_recorded_output(ledger::Ledger& ledger, const std::string& output,
                                    const PathStatus& path_status);

/// What an output is to be, for decide_output().
struct RequestedOutput {
  InputIdentity input;
  std::uint64_t settings;
  OnSettingsChange on_change;
  std::int64_t min_run;  ///< not 0: what was not made from this run on is given up
};

/// An input that may be the same counts as another.
OutputDecision decide_output(const RequestedOutput& requested, const RecordedOutput& known,
                             const PathStatus& path_status);

/// Of the place of an output whose bytes are in `written`: what io::publish() is to do. Throws
/// ItemError(output_collision).
io::ConflictAction resolve_collision(const OutputDecision& decision,
                                     const std::filesystem::path& output,
                                     const std::filesystem::path& written);

/// Throws ItemError(output_collision): the output cannot be made, for what is in the way.
[[noreturn]] void throw_output_collision(const std::filesystem::path& output,
                                         const OutputDecision& decision);

}  // namespace eckart
