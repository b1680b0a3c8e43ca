#pragma once

#include <dirent.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/root_directory.hpp"
#include "io/watch/path_filter.hpp"

namespace eckart::io {

/// Lists folders and everything below them, a few entries at a time. Stores only the paths of
/// folders that are not listed yet. Used by one thread.
class TreeScan {
 public:
  /// Called before a folder is listed. Returns whether to list it.
  using OnFolder = std::function<bool(const std::string& folder)>;
  /// A folder could not be listed completely. Not called if it no longer exists.
  using OnUnreadable = std::function<void(const std::string& folder, int error)>;
  /// A link with the name of an image was ignored because links are not followed.
  using OnIgnoredLink = std::function<void(const std::string& link)>;
  /// A regular file without the name of an image; it may be a temporary file.
  using OnUnreadFile = std::function<void(std::string_view name)>;
  TreeScan(const PathFilter& path_filter, RootDirectoryPtr root, OnFolder on_folder,
           OnUnreadable on_unreadable, OnIgnoredLink on_ignored_link = {},
           OnUnreadFile on_unread_file = {});

  /// May be called at any time. A folder that was listed before is listed again.
  void push(const std::string& folder) { pending_folders_.insert(folder); }
  /// `link` may be a link to a folder.
  void push_link(const std::string& link);
  /// Reads at most `max_entries` entries. Returns the paths of those that may be files.
  std::vector<std::string> step(std::size_t max_entries);
  bool is_done() const { return !listing_ && pending_folders_.empty() && links_.empty(); }

 private:
  bool open_next();
  void classify(const dirent& entry, std::vector<std::string>& files);
  void classify_link(std::string_view name, std::vector<std::string>& files);
  unsigned char type_of(const dirent& entry) const;

  const PathFilter& path_filter_;
  const RootDirectoryPtr root_;
  const OnFolder on_folder_;
  const OnUnreadable on_unreadable_;
  const OnIgnoredLink on_ignored_link_;
  const OnUnreadFile on_unread_file_;
  std::set<std::string> pending_folders_;
  // Links are followed last, so that a folder inside the tree is listed under its own path.
  std::set<std::string> links_;
  std::string folder_;      // the folder of listing_
  DirectoryPtr directory_;  // the same, open
  std::unique_ptr<DIR, int (*)(DIR*)> listing_;
};

}  // namespace eckart::io
