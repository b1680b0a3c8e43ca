#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "io/publication.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/input_match.hpp"
#include "pipeline/settings_change.hpp"

namespace eckart::pipeline {

/// How an output is processed, given the file at its path.
enum class OutputAction {
  create,     ///< no file exists, and no output was recorded
  skip,       ///< the output exists already
  reprocess,  ///< replace an earlier output of this input, or any file with --overwrite
  compare,    ///< keep the existing file if its bytes are the same; otherwise a collision
  reject,     ///< a collision: do not write
};

struct OutputDecision {
  OutputAction action = OutputAction::create;
  std::string explanation{};        ///< a clause, such as "the input changed"
  std::string report{};             ///< the recorded report, if the action is `skip`
  bool has_other_settings = false;  ///< made from the unchanged input with other settings
  bool is_modified_output = false;  ///< with `compare`: a recorded output that was modified later
  bool is_unrecorded = false;       ///< with `reprocess`: a killed process of this ledger made it
  bool may_be_replaced = true;      ///< whether --overwrite or --reprocess may replace the file
};

/// The status of a path.
struct PathStatus {
  std::filesystem::file_type type = std::filesystem::file_type::not_found;
  std::int64_t bytes = 0;     ///< of a regular file
  std::int64_t mtime_ns = 0;  ///< ledger::recorded_mtime()
  /// A parent of the path that is not a directory, or empty. If it is set, `type` is `not_found`.
  std::filesystem::path non_directory_parent{};
  int error = 0;  ///< errno if the status is unavailable (`type` is then `none`); else 0
};
/// Returns the status of a path. A symbolic link to a regular file counts as that file.
PathStatus stat_path(const std::filesystem::path& path);
/// Throws if the status is unavailable, except for ELOOP, an error of the path itself. Throws
/// EnvironmentError if the disk or the machine fails, and ItemError(not_written) if permission is
/// missing.
void check_status_available(const std::filesystem::path& path, const PathStatus& path_status);

/// The ledger entry of an output, if any.
struct RecordedOutput {
  std::optional<ledger::OutputEntry> entry{};
  bool is_intent = false;  ///< a publish intent: published, but not recorded as done
};
/// Returns the publish intent that matches the file at the path, or else the entry of the completed
/// output.
RecordedOutput find_recorded_output(ledger::Ledger& ledger, const std::string& output,
                                    const PathStatus& path_status);

/// The output that is requested, for decide_output().
struct RequestedOutput {
  InputIdentity input;
  std::uint64_t settings;
  OnSettingsChange on_change;
  std::int64_t min_run;  ///< if not 0, reprocess outputs of earlier runs (--overwrite)
};

/// Decides how to process an output. InputMatch::uncertain counts as another input.
OutputDecision decide_output(const RequestedOutput& requested, const RecordedOutput& known,
                             const PathStatus& path_status);

/// Returns how io::publish() handles the existing file at `output`; `written` is the new file.
/// Throws ItemError(output_collision).
io::CollisionAction resolve_collision(const OutputDecision& decision,
                                      const std::filesystem::path& output,
                                      const std::filesystem::path& written);

/// What the user can do about a collision, such as "move the file, or ...".
std::string collision_advice(const OutputDecision& decision);

/// Throws ItemError(output_collision) with the reason and advice.
[[noreturn]] void throw_output_collision(const std::filesystem::path& output,
                                         const OutputDecision& decision);

}  // namespace eckart::pipeline
