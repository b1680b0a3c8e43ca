#pragma once

#include <filesystem>
#include <string>

namespace eckart::pipeline {

/// Returns (folder / path).lexically_normal(). Ten times as fast if both are normal already, as
/// they nearly always are.
std::string normal_path(const std::filesystem::path& folder, const std::filesystem::path& path);

/// Returns path.lexically_relative(root). Faster if the path is below the root. Both must be
/// normal.
std::string relative_path(const std::string& path, const std::filesystem::path& root);

}  // namespace eckart::pipeline
