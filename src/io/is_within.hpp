#pragma once

#include <filesystem>

namespace eckart::io {

/// Whether `path` is the folder or below it; neither need exist. By real path: neither links nor
/// dots hide it. False where that cannot be found out.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace eckart::io
