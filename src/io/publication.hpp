#pragma once

#include <cstddef>
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
  /// Writes a file for `path`; its folder is made if it is missing. Throws ItemError(not_written)
  /// with the system's reason, or EnvironmentError.
  void add(const std::filesystem::path& path, std::span<const std::byte> bytes);
  /// Takes back what was added and is not at its place yet.
  void clear() { files_.clear(); }
  /// Whether publish() is done with it, and as durable as was wished.
  bool published() const { return published_; }

 private:
  friend class Group;
  struct File {
    std::unique_ptr<TemporaryFile> temporary;
    std::filesystem::path path;
  };
  std::vector<File> files_;
  bool published_ = false;
};

/// Told of a publication of the group that could not be put to its place, by its index.
using OnUnpublished = std::function<void(std::size_t index, const ItemError& error)>;

/// Renames all files to their places, over what stands there. `durable`: each is there, whole,
/// after a power cut as well, from the return of this on: all are brought to the disk first, then
/// renamed, then the folders are brought there, together for the whole group, which is what takes
/// the time. Throws EnvironmentError; what is not published() then must be written anew: of what a
/// disk has once failed to take nothing is known. A folder that this process may not read is left
/// to the system.
void publish(std::span<Publication* const> group, bool durable,
             const OnUnpublished& on_unpublished);

/// Writes one file as publish() does, durably. Throws ItemError(not_written) with the system's
/// reason, or EnvironmentError where that is no matter of this file; no temporary is left then.
void publish_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

}  // namespace eckart::io
