#include "pipeline/output_decision.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <iterator>
#include <system_error>

#include "core/error.hpp"
#include "io/environment_error.hpp"
#include "io/file_comparison.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

namespace fs = std::filesystem;

/// Compares mtimes to the nanosecond, so that a file of another program does not match by chance.
bool has_recorded_size_and_mtime(const ledger::OutputEntry& known, const PathStatus& path_status) {
  return known.bytes == path_status.bytes && known.output_mtime_ns == path_status.mtime_ns;
}

/// Whether the mtime is the recorded one, exactly or rounded to the timestamp granularity of a file
/// system: 1 ns, 100 ns (NTFS), 1 us, 1 ms, 10 ms (exFAT), 1 s, 2 s (FAT).
bool is_unmodified(const ledger::OutputEntry& known, const PathStatus& path_status) {
  constexpr std::int64_t kTimestampGranularities_ns[] = {1,        100,        1000,      1000000,
                                                         10000000, 1000000000, 2000000000};
  const auto [earlier, later] = std::minmax({path_status.mtime_ns, known.output_mtime_ns});
  const std::uint64_t difference = std::uint64_t(later) - std::uint64_t(earlier);
  return std::any_of(std::begin(kTimestampGranularities_ns), std::end(kTimestampGranularities_ns),
                     [&](std::int64_t unit) {
                       return path_status.mtime_ns % unit == 0 && difference < std::uint64_t(unit);
                     });
}

/// Returns the publish intent with exactly this mtime, or else one with a rounded mtime: the disk
/// may have been remounted, or copied to a file system with coarser timestamps.
std::optional<ledger::OutputEntry> find_published_intent(ledger::Ledger& ledger,
                                                         const std::string& output,
                                                         const PathStatus& path_status) {
  if (path_status.type != fs::file_type::regular) return std::nullopt;
  std::optional<ledger::OutputEntry> similar;
  for (ledger::OutputEntry& intent : ledger.intents(output)) {
    const bool has_size = intent.bytes < 0 || intent.bytes == path_status.bytes;  // < 0: unknown
    if (!has_size || !is_unmodified(intent, path_status)) continue;
    intent.bytes = path_status.bytes;
    if (intent.output_mtime_ns == path_status.mtime_ns) return std::move(intent);
    similar = std::move(intent);
  }
  return similar;
}

OutputDecision decide_recorded(const RequestedOutput& requested, const ledger::OutputEntry& known,
                               InputMatch match) {
  if (known.run < requested.min_run) return {OutputAction::reprocess, "--overwrite"};
  if (match == InputMatch::changed) return {OutputAction::reprocess, "the input changed"};
  if (known.settings != requested.settings && requested.on_change != OnSettingsChange::keep)
    return {.action = requested.on_change == OnSettingsChange::reprocess ? OutputAction::reprocess
                                                                         : OutputAction::reject,
            .explanation = "made with different settings",
            .has_other_settings = true};
  return {OutputAction::skip, "already done", known.report};
}

/// Decides for an output with only a publish intent. The output is complete, but its report was not
/// recorded. It is reprocessed, unless an output made with other settings is kept.
OutputDecision decide_unrecorded(const RequestedOutput& requested,
                                 const ledger::OutputEntry& intent, InputMatch match) {
  OutputDecision decision = decide_recorded(requested, intent, match);
  if (decision.action == OutputAction::skip && intent.settings == requested.settings)
    return {.action = OutputAction::reprocess,
            .explanation = "a previous run was killed while publishing it",
            .is_unrecorded = true};
  return decision;
}

OutputDecision decide_existing_file(const RequestedOutput& requested,
                                    const RecordedOutput& recorded_output,
                                    const PathStatus& path_status) {
  if (!recorded_output.entry) return {OutputAction::compare, "not in the ledger"};
  const ledger::OutputEntry& known = *recorded_output.entry;
  const InputMatch match = match_input(known, requested.input);
  if (match == InputMatch::different || match == InputMatch::uncertain)
    return {OutputAction::reject, "the output of " + text::printable(known.input)};
  if (recorded_output.is_intent) return decide_unrecorded(requested, known, match);
  const std::int64_t bytes = path_status.bytes;
  if (known.bytes != bytes)
    return {.action = OutputAction::compare,
            .explanation = "modified after it was written: " + text::group_digits(bytes) +
                           " bytes, not " + text::group_digits(known.bytes),
            .is_modified_output = true};
  OutputDecision decision = decide_recorded(requested, known, match);
  const bool is_replaced = decision.action == OutputAction::reprocess && requested.min_run == 0;
  const bool has_recorded_mtime = known.output_mtime_ns != 0;
  if (is_replaced && has_recorded_mtime && !is_unmodified(known, path_status))
    return {.action = OutputAction::compare,
            .explanation = "modified after it was written; " + decision.explanation,
            .is_modified_output = true};
  return decision;
}

/// Returns the parent of `path` that exists and is not a directory; empty if there is none.
fs::path find_non_directory_parent(const fs::path& path) {
  std::error_code none;
  fs::path above = path.parent_path();
  while (above.has_relative_path() && !fs::exists(above, none)) above = above.parent_path();
  return fs::is_directory(above, none) ? fs::path() : above;
}

}  // namespace

PathStatus stat_path(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOTDIR) return {.non_directory_parent = find_non_directory_parent(path)};
    if (errno == ENOENT || errno == ENAMETOOLONG) return {};
    return {.type = fs::file_type::none, .error = errno};
  }
  struct stat target {};
  if (S_ISLNK(status.st_mode)) {
    const int error = ::stat(path.c_str(), &target) == 0 ? 0 : errno;
    const bool is_dangling =
        error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
    if (error != 0 && !is_dangling) return {.type = fs::file_type::none, .error = error};
    if (error == 0 && S_ISREG(target.st_mode)) status = target;
  }
  PathStatus path_status{.type = fs::file_type::unknown,
                         .bytes = status.st_size,
                         .mtime_ns = ledger::recorded_mtime(files::in_ns(status.st_mtim))};
  if (S_ISREG(status.st_mode)) path_status.type = fs::file_type::regular;
  if (S_ISDIR(status.st_mode)) path_status.type = fs::file_type::directory;
  return path_status;
}

void check_status_available(const fs::path& path, const PathStatus& path_status) {
  if (path_status.error == 0 || path_status.error == ELOOP)
    return;  // ELOOP: an error of the path itself
  const std::string message = "cannot examine " + text::printable(path.native()) + ": " +
                              std::generic_category().message(path_status.error);
  io::check_environment(path_status.error, message);
  if (path_status.error == EACCES || path_status.error == EPERM)
    throw ItemError(FailureReason::not_written, message);
  throw EnvironmentError(message);
}

RecordedOutput find_recorded_output(ledger::Ledger& ledger, const std::string& output,
                                    const PathStatus& path_status) {
  RecordedOutput known{ledger.find(output)};
  // With output.times: keep, an output that is made again has the mtime of the one before, and may
  // have its size. Then a publish intent shows that the file may be the new one.
  const bool has_input_mtime =
      known.entry &&
      known.entry->output_mtime_ns == ledger::recorded_mtime(known.entry->state.mtime_ns);
  if (known.entry && has_recorded_size_and_mtime(*known.entry, path_status) && !has_input_mtime)
    return known;
  auto intent = find_published_intent(ledger, output, path_status);
  return intent ? RecordedOutput{std::move(intent), true} : known;
}

OutputDecision decide_output(const RequestedOutput& requested, const RecordedOutput& known,
                             const PathStatus& path_status) {
  if (!path_status.non_directory_parent.empty())
    return {.action = OutputAction::reject,
            .explanation =
                text::printable(path_status.non_directory_parent.native()) + " is not a directory",
            .may_be_replaced = false};
  if (path_status.type == fs::file_type::none)
    return {.action = OutputAction::reject,
            .explanation =
                "it cannot be examined: " + std::generic_category().message(path_status.error),
            .may_be_replaced = false};
  if (path_status.type == fs::file_type::not_found) {
    const InputMatch match =
        known.entry ? match_input(*known.entry, requested.input) : InputMatch::different;
    const bool is_missing = match == InputMatch::same || match == InputMatch::changed;
    return is_missing ? OutputDecision{OutputAction::reprocess, "the output is missing"}
                      : OutputDecision{};
  }
  if (path_status.type == fs::file_type::directory)
    return {.action = OutputAction::reject, .explanation = "a directory", .may_be_replaced = false};
  OutputDecision decision{OutputAction::reject, "not a regular file"};
  if (path_status.type == fs::file_type::regular)
    decision = decide_existing_file(requested, known, path_status);
  if (requested.min_run > 0 && decision.action != OutputAction::skip)
    return {OutputAction::reprocess, "--overwrite"};
  return decision;
}

std::string collision_advice(const OutputDecision& decision) {
  std::string advice = "move the file, or set another output folder or output.name";
  if (decision.has_other_settings)
    advice += "; a run with --reprocess reprocesses it";
  else if (decision.may_be_replaced)
    advice += "; a run with --overwrite replaces it";
  return advice;
}

void throw_output_collision(const std::filesystem::path& output, const OutputDecision& decision) {
  const char* problem = decision.may_be_replaced ? " already exists (" : " cannot be written (";
  throw ItemError(FailureReason::output_collision, text::printable(output.native()) + problem +
                                                       decision.explanation +
                                                       "): " + collision_advice(decision));
}

io::CollisionAction resolve_collision(const OutputDecision& decision,
                                      const std::filesystem::path& output,
                                      const std::filesystem::path& written) {
  if (decision.action == OutputAction::reject) throw_output_collision(output, decision);
  if (decision.action != OutputAction::compare) return io::CollisionAction::replace;
  const io::FileComparison comparison = io::compare_files(output, written);
  if (comparison == io::FileComparison::same) return io::CollisionAction::keep;
  if (comparison == io::FileComparison::prefix && decision.is_modified_output)
    return io::CollisionAction::replace;
  throw_output_collision(output, decision);
}

}  // namespace eckart::pipeline
