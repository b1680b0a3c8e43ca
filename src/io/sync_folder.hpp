#pragma once

#include <filesystem>

#include "io/directory.hpp"

namespace eckart::io {

/// Makes the entries of a folder durable. Also syncs its ancestors, usually once per folder and
/// process, because their entries may be new too. Ignores folders that cannot be read or no longer
/// exist. Throws EnvironmentError. Thread-safe.
void sync_folder_and_ancestors(const std::filesystem::path& folder);

/// Creates a folder and its missing parents. The next sync_folder_and_ancestors() makes their
/// entries durable, even if folders of these names were synced before. Throws
/// std::filesystem::filesystem_error. Thread-safe.
void make_folders(const std::filesystem::path& folder);
/// The folder that has the entry of this path; "." for a bare name.
std::filesystem::path parent_folder(const std::filesystem::path& path);
/// Must be called if a folder was created in another way.
void forget_synced_folder(const std::filesystem::path& folder);

/// The same for an open directory without its ancestors, and for its ancestors alone. `path`
/// identifies the directory in the cache and in messages. It may be longer than PATH_MAX.
void sync_directory(const Directory& directory, const std::filesystem::path& path);
void sync_ancestors(const Directory& directory, const std::filesystem::path& path);

}  // namespace eckart::io
