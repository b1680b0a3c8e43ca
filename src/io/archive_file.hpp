#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "io/publication.hpp"
#include "tar/archive.hpp"
#include "tar/writer.hpp"

namespace eckart::io {

/// A new tar archive with an index beside it, until publish(): it is written under a temporary
/// name. The destructor removes what was not published. Used by one thread at a time.
class ArchiveFile {
 public:
  /// Creates the folder of `path` if missing. Throws EnvironmentError, or ItemError as
  /// Publication::add() does.
  explicit ArchiveFile(std::filesystem::path path);

  /// Adds a file. `name`: a relative path. `mtime_ns`: in ns since 1970. Throws EnvironmentError,
  /// ItemError(not_written), and std::runtime_error if the name cannot be stored.
  void add(const std::string& name, std::span<const std::byte> bytes, std::int64_t mtime_ns);

  /// Publishes the archive, then its index, durably and whole. An archive that exists is kept if it
  /// has the same bytes; otherwise, it is replaced only if `overwrite`. Must be called once, last.
  /// Throws FatalError(cannot_create) if it may not be replaced, EnvironmentError, ItemError.
  /// Returns whether there is an index; see tar::dali_index().
  bool publish(bool overwrite);

  const std::filesystem::path& path() const { return path_; }
  std::int64_t files() const { return files_; }
  std::int64_t content_bytes() const { return content_bytes_; }  ///< of the files in it

 private:
  tar::Archive read_written() const;

  const std::filesystem::path path_;
  Publication publication_;
  std::unique_ptr<tar::Writer> writer_;
  std::int64_t files_ = 0, content_bytes_ = 0;
};

/// Throws EnvironmentError if this program cannot write archives.
void check_can_write_archives();

/// Makes the index of an archive from the archive, which is not replaced meanwhile. Returns false
/// if it has none; see tar::dali_index(). Throws as ArchiveFile::publish() and tar::Archive.
bool publish_index(const std::filesystem::path& archive);

/// The index of an archive, beside it: `a.tar` has `a.idx`.
std::filesystem::path index_path(const std::filesystem::path& archive);

}  // namespace eckart::io
