#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace eckart::io {

/// Lists the files that make_source() yields for these inputs, in any order, without sorting whole
/// folders. Returns nullopt if there are more than `max` entries, or a folder cannot be read.
std::optional<std::vector<std::filesystem::path>> list_images(
    std::span<const std::filesystem::path> inputs, std::size_t max);

}  // namespace eckart::io
