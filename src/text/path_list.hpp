#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace eckart::text {

/// Returns up to three paths for a message: "a, b, c and 2 more".
std::string path_list(std::span<const std::filesystem::path> paths);

}  // namespace eckart::text
