#pragma once

#include <filesystem>

namespace eckart::io {

/// Whether `path` is `folder` or below it. Both are resolved to real paths; neither has to exist.
/// Returns false if a path cannot be resolved.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether a path that is relative to a folder, and lexically normal, stays in it.
inline bool stays_within(const std::filesystem::path& relative) {
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace eckart::io
