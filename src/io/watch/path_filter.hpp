#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// Decides which entries of a watched folder are processed. Paths are byte strings relative to the
/// root; the root itself is the empty path.
class PathFilter {
 public:
  explicit PathFilter(const WatchOptions& options);

  /// Checks only the name; the entry may not be a file.
  bool accepts_file(std::string_view name) const;
  /// Whether a folder that is not a link is neither hidden nor excluded.
  bool accepts_folder(const std::string& folder) const;
  /// Whether a link to a folder is followed: links are enabled, it is not a cycle, and its target
  /// is not in an excluded folder. Accesses the file system.
  bool accepts_link(const std::string& link) const;
  files::LinkPolicy links() const { return links_; }
  bool follows_directory_links() const { return links_ == files::LinkPolicy::all; }
  std::filesystem::path path_of(const std::string& relative) const;

 private:
  bool is_link_cycle(const std::string& link) const;

  const std::filesystem::path root_;
  const files::LinkPolicy links_;
  std::unordered_set<std::string> excluded_;
};

/// Returns `folder`/`name`, or `name` if `folder` is empty.
std::string join_path(const std::string& folder, std::string_view name);

}  // namespace eckart::io
