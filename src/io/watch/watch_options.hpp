#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/instant.hpp"
#include "files/file_state.hpp"
#include "io/directory.hpp"
#include "io/own_folders.hpp"
#include "io/source.hpp"

namespace eckart::io {

struct WatchOptions {
  std::filesystem::path root;  ///< absolute; if it is missing, the watch waits for it
  std::vector<std::filesystem::path> exclude;         ///< folders below root, relative; not scanned
  OwnFolders own_folders{};                           ///< not scanned
  files::LinkPolicy links = files::LinkPolicy::none;  ///< which links below root are followed
  /// A file is ready when size, mtime, ctime and inode were unchanged for this time.
  std::chrono::milliseconds settle_time{};
  /// How long a file that does not decode is tried again, counted from its first attempt.
  std::chrono::milliseconds retry_timeout{};
  std::chrono::milliseconds rescan_interval{};  ///< between full scans
  std::chrono::milliseconds poll_interval{};    ///< between full scans if events are not reliable
  std::size_t max_pending = 50000;              ///< a later scan finds the files beyond this limit
  std::chrono::milliseconds root_check_interval{
      1000};  ///< between checks whether root is the same folder
  /// The first wait after a status other than `done`. Each further wait is twice as long.
  std::chrono::milliseconds initial_backoff{1000};
};

/// The longest wait after a status other than `done`, as a multiple of the first.
constexpr int kMaxBackoffFactor = 30;

/// What to do with a file that has left the pipeline.
enum class FinishStatus {
  done,        ///< nothing, until the file changes
  incomplete,  ///< tried again after a backoff when the file is stable; after the last attempt:
               ///< like `done`
  environment_error,  ///< not the fault of the file: the whole watch pauses, then tries again
};

enum class Severity { debug, info, warning };

/// A snapshot of a watch.
struct WatchState {
  bool is_root_present = false;
  /// Why the root cannot be read; empty if it is present, or missing.
  std::string root_error;
  /// Files are found by scans each WatchOptions::poll_interval, also or only.
  bool is_polling = false;
  std::size_t pending = 0;    ///< files that are not stable yet or wait for another attempt
  std::size_t ready = 0;      ///< files that pop() may return
  std::size_t in_flight = 0;  ///< files that were popped, but not finished
  /// When the oldest file that is pending or ready arrived.
  std::optional<Instant> oldest_arrival;
  std::string backoff_reason;     ///< why the watch pauses after an environment error; or empty
  UnreadFiles unread_files;       ///< now, below the root
  std::int64_t unread_total = 0;  ///< all that were there so far
  std::int64_t overflows = 0;     ///< of the event queue of the kernel
  /// Since when the thread works; nullopt while it waits for events.
  std::optional<Instant> busy_since;
  bool is_scan_complete = false;  ///< a full scan of the current root has missed nothing
};

/// Called on the thread of the watch when a file is ready. Returns whether the file must be
/// processed. If not, the file is dropped until it changes or a scan finds it; then the filter is
/// called again. After an EnvironmentError the watch pauses, as after
/// FinishStatus::environment_error, and calls the filter again. WatchSource::next() throws any
/// other exception.
using WorkFilter = std::function<bool(const SourceItem&, const files::FileState&)>;

/// Writes a line to the log for the watch of this index. May be called on any thread. Must not
/// throw.
using LogFunction = std::function<void(int watch, Severity, const std::string& line)>;

}  // namespace eckart::io
