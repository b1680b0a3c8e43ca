#pragma once

#include <filesystem>
#include <string>

namespace eckart::pipeline {

/// Returns path.lexically_normal(). Ten times as fast if the path is normal already, as it nearly
/// always is.
std::string normal_path(const std::filesystem::path& path);

/// Returns (folder / path).lexically_normal(). Faster if both are normal already.
std::string normal_path(const std::filesystem::path& folder, const std::filesystem::path& path);

/// Returns path.lexically_relative(root). Faster if the path is below the root. Both must be
/// normal.
std::string relative_path(const std::string& path, const std::filesystem::path& root);

}  // namespace eckart::pipeline
