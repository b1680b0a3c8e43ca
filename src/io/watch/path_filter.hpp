#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include "io/watch/watch_options.hpp"

namespace eckart::io {

/// What of a watched folder is looked at. Paths are relative to its root, as bytes; the root itself
/// is the empty path.
class PathFilter {
 public:
  explicit PathFilter(const WatchOptions& options);

  /// By name alone: it may turn out not to be a file.
  bool accepts_file(std::string_view name) const;
  /// Of a real folder: not hidden, and not excluded.
  bool accepts_folder(const std::string& folder) const;
  /// Of a link to a folder: such links are followed, it does not lead to where it is itself, and
  /// not into an excluded folder under another name. Asks the file system.
  bool accepts_link(const std::string& link) const;
  LinkPolicy links() const { return links_; }
  bool follows_directory_links() const { return links_ == LinkPolicy::all; }
  std::filesystem::path path_of(const std::string& relative) const;

 private:
  bool is_link_cycle(const std::string& link) const;

  const std::filesystem::path root_;
  const LinkPolicy links_;
  std::unordered_set<std::string> excluded_;
};

/// A path within a folder of the root.
std::string join_path(const std::string& folder, std::string_view name);

}  // namespace eckart::io
