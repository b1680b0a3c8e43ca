#pragma once

#include <filesystem>

#include "io/directory.hpp"

namespace eckart::io {

/// Brings the entries of a folder to the disk, and once, or a few times, in the life of the process
/// those of all around it: whoever made them, they may not be there yet. That one may not be read,
/// or is gone, is passed over. Throws EnvironmentError. Thread-safe.
void sync_folder_and_ancestors(const std::filesystem::path& folder);

/// Makes a folder and those above it that are missing, whose entries the next
/// sync_folder_and_ancestors() brings to the disk, although folders of these names may have been
/// there before. Throws std::filesystem::filesystem_error. Thread-safe.
void make_folders(const std::filesystem::path& folder);
/// For a folder that was made in another way.
void forget_synced_folder(const std::filesystem::path& folder);

/// The same of an open directory alone, and of all around it. `path` is by what it is remembered,
/// and for messages: it may be longer than the system takes.
void sync_directory(const Directory& directory, const std::filesystem::path& path);
void sync_ancestors(const Directory& directory, const std::filesystem::path& path);

}  // namespace eckart::io
