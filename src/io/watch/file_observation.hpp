#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "io/directory.hpp"
#include "io/rooted_file.hpp"

namespace eckart::io {

/// The file, its state and its directory. A file is stable while its fingerprint does not change.
struct FileFingerprint {
  FileIdentity identity;
  FileId directory;  ///< the directory that contains the file
  friend bool operator==(const FileFingerprint&, const FileFingerprint&) = default;
};

struct FileObservation {
  EntryStat::Kind kind = EntryStat::missing;
  FileFingerprint fingerprint;  ///< of a regular file
  int error = 0;  ///< errno if the status could not be read; 0 if the file does not exist
};

/// Returns the time since the last change, by the system clock. Negative if the clock was set back.
std::chrono::nanoseconds age_of(const FileFingerprint& fingerprint);

/// Returns the ID of a directory; links are followed. Returns nullopt, with errno, if there is
/// none.
std::optional<FileId> directory_id_at(const std::filesystem::path& path);

}  // namespace eckart::io
