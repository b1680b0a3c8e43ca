#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "files/file_state.hpp"

struct stat;

namespace eckart::io {

FileState state_of(const struct stat& status);

/// Of a file that is there, or what a link leads to. Throws ItemError: not_found, unreadable.
FileState state_of(const std::filesystem::path& path);

/// The whole file. Throws ItemError: not_found, unreadable (with the system's reason; folders,
/// FIFOs and devices too), empty_file, too_large; EnvironmentError where the process has no more
/// descriptors or memory.
std::vector<std::byte> read_file(const std::filesystem::path& path, std::int64_t max_mb);

}  // namespace eckart::io
