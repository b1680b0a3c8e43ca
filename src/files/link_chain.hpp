#pragma once

#include <filesystem>
#include <vector>

namespace eckart::files {

/// The path, followed by the target of each symbolic link in turn. The last path is not a link; it
/// may not exist. After 40 links the chain ends, and its last path may be a link.
std::vector<std::filesystem::path> link_chain(const std::filesystem::path& path);

}  // namespace eckart::files
