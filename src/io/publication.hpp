#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {

/// The files of one image until publish(): each is written completely under a temporary name beside
/// its path, or without a name. The destructor removes files that were not published. Used by one
/// thread at a time.
class Publication {
 public:
  /// Writes a temporary file for `path` and creates its folder if missing. Sets its mtime to
  /// `mtime_ns`, if there is one. Returns the mtime in ns since 1970, as the file system has
  /// rounded it; publish() does not change it. Throws EnvironmentError, or ItemError with the
  /// system's message: output_collision if a file is in the path of the folder, otherwise
  /// not_written.
  std::int64_t add(const std::filesystem::path& path, std::span<const std::byte> bytes,
                   std::optional<std::int64_t> mtime_ns = {},
                   TemporaryName name = TemporaryName::at_once);
  /// As above, with the bytes of all parts, at most IOV_MAX.
  std::int64_t add(const std::filesystem::path& path,
                   std::span<const std::span<const std::byte>> parts,
                   std::optional<std::int64_t> mtime_ns = {},
                   TemporaryName name = TemporaryName::at_once);
  /// As add(), with an empty file, for append() and set_mtime().
  void add_empty(const std::filesystem::path& path, TemporaryName name = TemporaryName::at_once);
  /// Appends to the file that was added last. Throws EnvironmentError or ItemError(not_written).
  void append(std::span<const std::byte> bytes);
  /// Sets the mtime of the file that was added last, in ns since 1970, after the last append().
  void set_mtime(std::int64_t mtime_ns);
  /// The temporary path of the file that was added last.
  const std::filesystem::path& temporary_path() const { return files_.back().temporary->path(); }
  /// Removes the temporary files that are not published yet.
  void clear() { files_.clear(); }
  /// Whether publish() has finished with it, with the requested durability.
  bool is_published() const { return is_published_; }
  /// Whether publish() knows that the files at their paths have the mtimes that add() returned. Not
  /// if a file that existed was kept, or on a file system that may change the mtime of a file
  /// later.
  bool has_known_mtimes() const { return has_known_mtimes_; }

 private:
  friend class PublicationGroup;
  struct File {
    std::unique_ptr<TemporaryFile> temporary;
    std::filesystem::path path;
  };
  std::vector<File> files_;
  bool is_published_ = false;
  bool has_known_mtimes_ = false;
};

/// Called if a publication of the group could not be renamed to its path. `index` is its index in
/// the group. The error is output_collision if a folder is at the path, what resolve_collision()
/// threw, or not_written.
using OnPublishFailure = std::function<void(std::size_t index, const ItemError& error)>;

/// What to do with an existing file at the path of an output.
enum class CollisionAction {
  replace,  ///< replace the existing file
  keep,     ///< keep the existing file, because it has the same contents
};
/// Called if a file exists at `path`, where a file of publication `index` is to be published. The
/// new bytes are in `temporary`. Throws ItemError if the existing file is a collision.
using ResolveCollision = std::function<CollisionAction(
    std::size_t index, const std::filesystem::path& path, const std::filesystem::path& temporary)>;

struct PublishOptions {
  /// If true, all files are complete and durable when publish() returns. Files are synced first,
  /// then renamed, then their folders are synced. This is done for the whole group at a time,
  /// because the syncs take most of the time. Folders that this process cannot read are not synced.
  bool durable = true;
  /// If empty, existing files are replaced. Otherwise a file is replaced only if this function has
  /// returned `replace` immediately before. A file that appears later at a free path is detected.
  /// The function is called for all files of a publication before the first rename.
  ResolveCollision resolve_collision{};
};

/// Renames all files to their paths. Throws EnvironmentError. Publications that are not
/// is_published() then must be written again, because the state of data after a failed sync is
/// unknown.
void publish(std::span<Publication* const> group, const PublishOptions& options,
             const OnPublishFailure& on_publish_failure);

/// Whether a file of a megabyte can be written to the folder now. It leaves no file.
bool can_write_files(const std::filesystem::path& folder);

/// Writes and publishes one file durably, and replaces an existing file. Throws
/// ItemError(not_written) with the system's message, or EnvironmentError if the failure does not
/// depend on the file. On failure no temporary file is left.
void publish_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Like publish_file(), but never replaces a file. If a file with the same bytes exists, it is
/// kept. Throws ItemError(output_collision) if anything else exists.
void publish_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace eckart::io
