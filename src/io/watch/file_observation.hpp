#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "io/directory.hpp"
#include "io/rooted_file.hpp"

namespace eckart::io {

/// What a file looks like from outside; it is still as long as nothing of this changes.
struct FileFingerprint {
  FileIdentity file;
  FileId directory;  ///< in which it is
  friend bool operator==(const FileFingerprint&, const FileFingerprint&) = default;
};

struct FileObservation {
  EntryStat::Kind kind = EntryStat::nothing;
  FileFingerprint seen;  ///< of a file
  int error = 0;         ///< why there is nothing, where it is not that there is nothing
};

/// How long ago it was changed, by the wall clock; negative where that was set back since.
std::chrono::nanoseconds age_of(const FileFingerprint& seen);

/// Of a directory, or where a link leads to; nothing, with errno, where there is none.
std::optional<FileId> directory_id_at(const std::filesystem::path& path);

}  // namespace eckart::io
