#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "core/image_limits.hpp"
#include "io/claimed_file.hpp"
#include "io/root_directory.hpp"

namespace eckart::io {

struct QuarantineOptions {
  int keep_days = 0;        ///< days; 0: no limit
  std::int64_t max_mb = 0;  ///< MiB; 0: no limit
  bool durable = true;      ///< a record is durable before its file is moved in
  /// MiB; a larger file is not copied from another file system.
  std::int64_t max_copy_mb = ImageLimits{}.file_mb;
  /// A record without its file is of an input that an earlier version kept. Otherwise a process was
  /// killed between the two, and the file is still to be moved.
  bool keeps_inputs = true;
};

/// What a quarantine has: inputs (also those that were kept in place), and bytes with records.
struct QuarantineUsage {
  std::int64_t files = 0, bytes = 0;
};

/// The folder of inputs that failed: OUT/.eckart/quarantine, with the tree of the inputs. Beside
/// each file is its quarantine record, NAME.record.json. An input that was kept in place has only a
/// kept record, NAME.kept.json. A file NAME beside a kept record is another input. If the name of a
/// folder could be that of a file, such as q.png, it is q.png.d in the quarantine. Earlier versions
/// wrote kept records as NAME.record.json, without a file NAME. Thread-safe. Unless stated
/// otherwise, members throw ItemError(not_written) with the system's message, or EnvironmentError.
class Quarantine {
 public:
  Quarantine(const std::filesystem::path& output, const QuarantineOptions& options);

  /// Moves the file to `relative` below the quarantine folder and writes its record. If another
  /// file has the name, a numbered name is used. Returns the new path.
  std::filesystem::path add(ClaimedFile& file, const std::filesystem::path& relative,
                            const std::string& record_json);
  /// Writes a record for an input that is kept in place. Returns the path of the record.
  std::filesystem::path add_kept_record(const std::filesystem::path& relative,
                                        const std::string& record_json);
  /// Whether there is a kept record for the input. True also if its status cannot be read. Never
  /// throws.
  bool has_kept_record(const std::filesystem::path& relative) const;
  void remove_kept_record(const std::filesystem::path& relative);
  /// Whether the quarantine has a file of this name. True also if its status cannot be read. Never
  /// throws.
  bool has_file(const std::filesystem::path& relative) const;

  /// Removes temporary files of killed processes. The caller must hold the FolderLock of the output
  /// folder, so that they belong to no running process.
  void remove_stale_temporaries() const;

  /// Removes files older than keep_days, then the oldest files while the total exceeds max_mb. A
  /// file that alone exceeds max_mb is removed only by age. Empty folders are removed too. Returns
  /// the removed paths, and sets `usage` to what is left.
  std::vector<std::filesystem::path> sweep(std::chrono::system_clock::time_point now,
                                           QuarantineUsage* usage = nullptr) const;

 private:
  RootDirectoryPtr open_root() const;
  bool has_legacy_kept_record(const std::filesystem::path& path) const;
  void remove_legacy_kept_record(const std::filesystem::path& relative);
  void write_record(const std::filesystem::path& record_path, const std::string& record_json) const;

  const std::filesystem::path root_;    // OUT/.eckart; no link below it is followed
  const std::filesystem::path folder_;  // the quarantine folder, below root_
  const QuarantineOptions options_;
  std::mutex mutex_;  // held from the choice of a name until it is used
};

/// Returns the quarantine folder of an output folder.
std::filesystem::path quarantine_folder(const std::filesystem::path& output);

/// Opens a quarantine folder, which must not be a link. Returns nullptr, with errno, on failure.
RootDirectoryPtr open_quarantine(const std::filesystem::path& folder);

/// Returns the path of the file that a record describes.
std::filesystem::path file_of_record(const std::filesystem::path& record);

/// Whether it is the kept record of an input that was kept in place, so that a file at
/// file_of_record() is another input. A record of an earlier version without a file is a kept
/// record too, but this function does not detect it.
bool is_kept_record(const std::filesystem::path& record);

/// Returns the path of the record of a quarantined file.
std::filesystem::path record_path_of(const std::filesystem::path& path);

/// Removes the folder of `path`, relative to the quarantine, and its parents, as far as they are
/// empty.
void remove_empty_folders(const RootDirectory& quarantine, const std::filesystem::path& path);

/// Returns the paths of all records in a quarantine, including kept records, oldest first.
std::vector<std::filesystem::path> quarantine_records(const std::filesystem::path& folder);

}  // namespace eckart::io
