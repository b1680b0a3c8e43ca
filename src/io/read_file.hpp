#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "files/file_state.hpp"

struct stat;

namespace eckart::io {

files::FileState state_of(const struct stat& status);

/// Returns the state of a file, or of a file in a tar archive; links are followed. Throws
/// ItemError: not_found, unreadable.
files::FileState state_of(const std::filesystem::path& path);

/// Returns all bytes of a file. Throws ItemError: not_found, unreadable with the system's message
/// (also for folders, FIFOs and devices), empty_file, or too_large. Throws EnvironmentError if file
/// descriptors or memory ran out.
std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_mb);

}  // namespace eckart::io
