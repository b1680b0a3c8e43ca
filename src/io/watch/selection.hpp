#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

#include "io/watch/watch.hpp"

namespace eckart::io {

/// What of a watched folder is looked at. Paths are relative to its root, as bytes; the root itself
/// is the empty path.
class Selection {
 public:
  explicit Selection(const WatchOptions& options);

  /// By name alone: it may turn out not to be a file.
  bool takes_file(std::string_view name) const;
  /// Of a real folder: not hidden, and not excluded.
  bool takes_folder(const std::string& folder) const;
  /// Of a link to a folder: such links are followed, it does not lead to where it is itself, and
  /// not into an excluded folder under another name. Asks the file system.
  bool takes_link(const std::string& link) const;
  Links links() const { return links_; }
  bool follows_directory_links() const { return links_ == Links::all; }
  std::filesystem::path path_of(const std::string& relative) const;

 private:
  bool leads_back(const std::string& link) const;

  const std::filesystem::path root_;
  const Links links_;
  std::unordered_set<std::string> exclude_;
};

/// A path within a folder of the root.
std::string join(const std::string& folder, std::string_view name);

}  // namespace eckart::io
