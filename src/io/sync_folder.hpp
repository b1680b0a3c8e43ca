#pragma once

#include <filesystem>

#include "io/directory.hpp"

namespace eckart::io {

/// Brings the entries of a folder to the disk, and once, or a few times, in the life of the process
/// those of all around it: whoever made them, they may not be there yet. That one may not be read,
/// or is gone, is passed over. Throws EnvironmentError. Thread-safe.
void sync_folder_and_ancestors(const std::filesystem::path& folder);

/// The same of an open directory alone, and of all around it. `path` is by what it is remembered,
/// and for messages: it may be longer than the system takes.
void sync_directory(const Directory& directory, const std::filesystem::path& path);
void sync_ancestors(const Directory& directory, const std::filesystem::path& path);

}  // namespace eckart::io
