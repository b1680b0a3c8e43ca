#pragma once

#include <filesystem>
#include <string>

namespace eckart::io {

/// A path that is resolved to a real path once, to be compared with many others. It does not have
/// to exist.
class RealPath {
 public:
  explicit RealPath(const std::filesystem::path& path);
  /// Whether this is `folder` or below it. False if a path is empty or cannot be resolved.
  bool is_within(const RealPath& folder) const;
  /// With a slash at the end; empty if it cannot be resolved.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Whether `path` is `folder` or below it, as RealPath compares them.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Whether a path that is relative to a folder, and lexically normal, stays in it.
inline bool stays_within(const std::filesystem::path& relative) {
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace eckart::io
