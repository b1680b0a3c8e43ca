#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "files/file_state.hpp"
#include "io/directory.hpp"
#include "io/source.hpp"
#include "io/watch/instant.hpp"

namespace eckart::io {

struct WatchOptions {
  std::filesystem::path root;                  ///< absolute; where it is missing, it is waited for
  std::vector<std::filesystem::path> exclude;  ///< folders below root, relative: not looked into
  LinkPolicy links = LinkPolicy::none;         ///< below root
  /// A file is ready when size, mtime, ctime and inode were still for so long.
  std::chrono::milliseconds settle{1000};
  /// How long a file that does not decode is tried again, from its first try on.
  std::chrono::milliseconds retry_timeout{30000};
  std::chrono::milliseconds rescan{300000};  ///< between full scans
  std::chrono::milliseconds poll{5000};      ///< likewise, where events cannot be trusted
  std::size_t max_pending = 50000;  ///< files that settle at a time; a later scan finds the others
  std::chrono::milliseconds root_check{1000};  ///< between looks at whether root is the same folder
  /// The first wait after an ending that is not `settled`; each further one is twice as long.
  std::chrono::milliseconds backoff{1000};
};

/// What is to become of a file after its way through the pipeline.
enum class FinishStatus {
  settled,      ///< nothing is left to do while it stays as it is
  incomplete,   ///< perhaps: tried again, with back-off, once it is still; after a last try:
                ///< settled
  environment,  ///< no fault of the file: the whole watch holds back for a while, then tries again
};

enum class Severity { debug, info, warning };

/// What a watch is doing; a snapshot.
struct WatchState {
  bool is_root_present = false;
  bool polling = false;           ///< also, or only, by scans each WatchOptions::poll
  std::size_t pending = 0;        ///< files that settle, or wait for another try
  std::size_t ready = 0;          ///< files that may be taken
  std::size_t in_flight = 0;      ///< taken, and not yet finished
  std::optional<Instant> oldest;  ///< when the oldest of those that are pending or ready came
  std::string backoff_reason;  ///< why it holds back after an FinishStatus::environment; or empty
  std::int64_t overflows = 0;  ///< of the kernel's queue of events
  std::optional<Instant> busy_since;  ///< its thread; nothing while that waits for events
  bool scanned = false;  ///< a full scan has ended, and missed nothing, since root is there
};

/// Asked on the watch's thread once a file is ready: is it work? False: it is forgotten until it
/// changes, or a scan finds it, which asks again. After an EnvironmentError the watch holds back,
/// as after FinishStatus::environment, and asks again; what else it throws comes out of
/// WatchSource::next().
using WorkFilter = std::function<bool(const SourceItem&, const FileState&)>;

/// A line for the log, of the watch with this number; on any thread. Must not throw.
using LogFunction = std::function<void(int watch, Severity, const std::string& line)>;

}  // namespace eckart::io
