#pragma once

#include <filesystem>
#include <vector>

namespace eckart::files {

/// The path, and where its links lead, one after the other; the last is there, or to be made.
std::vector<std::filesystem::path> link_chain(const std::filesystem::path& path);

}  // namespace eckart::files
