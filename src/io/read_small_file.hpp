#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace eckart::io {

/// Returns the bytes of a regular file that eckart wrote itself. Returns nothing if there is none,
/// if it is a link, a pipe and the like, if it has more than `max_bytes`, or if it cannot be read.
/// Never waits for a pipe.
std::optional<std::string> read_small_file(const std::filesystem::path& path,
                                           std::size_t max_bytes);

}  // namespace eckart::io
