#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "io/claimed_file.hpp"
#include "io/root_directory.hpp"

namespace eckart::io {

struct QuarantineOptions {
  int keep_days = 30;               ///< 0: for ever
  std::int64_t max_mb = 1024;       ///< MiB; 0: no limit
  bool durable = true;              ///< reasons are on the disk before their files come
  std::int64_t max_copy_mb = 1024;  ///< MiB; a larger file is not copied from another disk
};

/// Where inputs go that cannot be done, each with its reason beside it in NAME.record.json:
/// OUT/.eckart/quarantine, in the tree of the inputs. A directory whose name could be that of a
/// file there, as q.png, is called q.png.d. Of an input that stays where it is only a note is
/// there, NAME.kept.json: a file NAME beside it is another. Earlier versions called the note
/// NAME.record.json, without a file NAME. Thread-safe. Everything throws ItemError(not_written)
/// with the system's reason, or EnvironmentError.
class Quarantine {
 public:
  Quarantine(const std::filesystem::path& output, const QuarantineOptions& options);

  /// Moves the file there: to its place in the tree of the inputs, which is `relative`, or to a
  /// name like that where another has it. Returns the place.
  std::filesystem::path take(ClaimedFile& file, const std::filesystem::path& relative,
                             const std::string& reason);
  /// Of a file that stays; the place of the note.
  std::filesystem::path note(const std::filesystem::path& relative, const std::string& reason);
  /// Whether there is a note of it, or may be: what cannot be looked at counts. Never throws.
  bool has_kept_record(const std::filesystem::path& relative) const;
  void remove_kept_record(const std::filesystem::path& relative);
  /// Whether a file of its name was taken, or may have been. Never throws.
  bool has_file(const std::filesystem::path& relative) const;

  /// Removes what is too old, and the oldest where all are too large; their places. A file that is
  /// too large alone goes only by its age. Folders that are empty then go, too.
  std::vector<std::filesystem::path> sweep(std::chrono::system_clock::time_point now) const;

 private:
  RootDirectoryPtr open_root() const;
  bool has_legacy_kept_record(const std::filesystem::path& place) const;
  void remove_legacy_kept_record(const std::filesystem::path& relative);
  void write(const std::filesystem::path& record, const std::string& reason) const;

  const std::filesystem::path root_;    // OUT/.eckart: below it no link is followed
  const std::filesystem::path folder_;  // in it
  const QuarantineOptions options_;
  std::mutex mutex_;  // between the choice of a name and its use
};

/// The quarantine of an output folder.
std::filesystem::path quarantine_folder(const std::filesystem::path& output);

/// The place of the file that a file of a reason is of.
std::filesystem::path file_of_record(const std::filesystem::path& record);

/// Whether it is the note of an input that has stayed: what is at that place is another file then.
/// A reason of earlier versions that has no file there is such a note, too.
bool is_kept_record(const std::filesystem::path& record);

/// Where the reason is written, of a file at `place` in a quarantine.
std::filesystem::path record_path_of(const std::filesystem::path& place);

/// Removes the folder of what was at `place` in a quarantine, and those around it, as far as they
/// are empty.
void remove_empty_folders(const RootDirectory& quarantine, const std::filesystem::path& place);

/// All files of reasons in a quarantine, notes among them, the oldest first.
std::vector<std::filesystem::path> quarantine_records(const std::filesystem::path& folder);

}  // namespace eckart::io
