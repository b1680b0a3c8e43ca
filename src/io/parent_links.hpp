#pragma once

#include <filesystem>

namespace eckart::io {

/// Returns the path, or, if it has `..` after a link to a folder, the path with the part up to the
/// last `..` resolved: the text alone would lead to another place. What follows the last `..` need
/// not exist.
std::filesystem::path resolve_parent_links(const std::filesystem::path& path);

}  // namespace eckart::io
