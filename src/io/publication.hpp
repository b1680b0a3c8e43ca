#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {

/// The files of one image on the way to their places: written whole under other names beside them,
/// until publish(). What is not published leaves nothing behind. One thread at a time.
class Publication {
 public:
  /// Writes a file for `path`; its folder is made if it is missing. Returns when the file was
  /// written, which stays its time of change at its place. Throws EnvironmentError, or ItemError
  /// with the system's reason: output_collision where a file is in the place of a folder of `path`,
  /// else not_written.
  std::int64_t add(const std::filesystem::path& path, std::span<const std::byte> bytes);
  /// Takes back what was added and is not at its place yet.
  void clear() { files_.clear(); }
  /// Whether publish() is done with it, and as durable as was wished.
  bool published() const { return is_published_; }

 private:
  friend class PublicationGroup;
  struct File {
    std::unique_ptr<TemporaryFile> temporary;
    std::filesystem::path path;
  };
  std::vector<File> files_;
  bool is_published_ = false;
};

/// Told of a publication of the group that could not be put to its place, by its index: with
/// output_collision where a folder is there, or else with not_written, or with what
/// resolve_conflict() threw.
using OnPublishFailure = std::function<void(std::size_t index, const ItemError& error)>;

/// What becomes of a file whose place is taken.
enum class ConflictAction {
  replace,  ///< it takes the place of what stands there
  keep,     ///< what stands there stays: it has the same bytes
};
/// Asked of a publication of the group, by its index, where something stands at the place of one of
/// its files, which is in `temporary` until then. Throws ItemError where that is in the way.
using ResolveConflict = std::function<ConflictAction(
    std::size_t index, const std::filesystem::path& place, const std::filesystem::path& temporary)>;

struct PublishOptions {
  /// Each file is there, whole, after a power cut as well, from the return of publish() on: all are
  /// brought to the disk first, then renamed, then the folders are brought there, together for the
  /// whole group, which is what takes the time. A folder that this process may not read is left to
  /// the system.
  bool durable = true;
  /// Empty: what stands there is replaced. Else nothing is but what it has said so of immediately
  /// before; what appears at a free place meanwhile is seen. It is asked of all files of a
  /// publication before the first of them is renamed.
  ResolveConflict resolve_conflict{};
};

/// Renames all files to their places. Throws EnvironmentError; what is not published() then must be
/// written anew: of what a disk has once failed to take nothing is known.
void publish(std::span<Publication* const> group, const PublishOptions& options,
             const OnPublishFailure& on_publish_failure);

/// Writes one file as publish() does, durably, over what stands there. Throws
/// ItemError(not_written) with the system's reason, or EnvironmentError where that is no matter of
/// this file; no temporary is left then.
void publish_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same, but what stands there is never replaced: a file with the very same bytes stays, and
/// anything else is an ItemError(output_collision).
void publish_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace eckart::io
