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

/// Lists folders, a few entries at a time, each with all below it. Holds the names of the folders
/// that are still to be listed. Used by one thread.
class TreeScan {
 public:
  /// Called before a folder is listed: whether it is to be.
  using OnFolder = std::function<bool(const std::string& folder)>;
  /// A folder could not be listed, or not to its end; not called where it is gone.
  using OnUnreadable = std::function<void(const std::string& folder, int error)>;
  /// A link that is not followed, and would else be taken.
  using OnIgnoredLink = std::function<void(const std::string& link)>;
  TreeScan(const PathFilter& selection, RootDirectoryPtr root, OnFolder enter,
           OnUnreadable unreadable, OnIgnoredLink ignored = {});

  /// At any time; a folder that was listed is listed again.
  void push(const std::string& folder) { pending_folders_.insert(folder); }
  /// What is perhaps a link to a folder.
  void push_link(const std::string& link);
  /// Looks at so many entries at most; what may be files, by name.
  std::vector<std::string> step(std::size_t most);
  bool done() const { return !listing_ && pending_folders_.empty() && links_.empty(); }

 private:
  bool open_next();
  void classify(const dirent& entry, std::vector<std::string>& files);
  void classify_link(std::string_view name, std::vector<std::string>& files);
  unsigned char type_of(const dirent& entry) const;

  const PathFilter& path_filter_;
  const RootDirectoryPtr root_;
  const OnFolder on_folder_;
  const OnUnreadable unreadable_;
  const OnIgnoredLink ignored_;
  std::set<std::string> pending_folders_;
  // After the others, so that a folder that a link leads to has its own path, if it is in the tree.
  std::set<std::string> links_;
  std::string folder_;      // that of listing_, ...
  DirectoryPtr directory_;  // ... and so is this
  std::unique_ptr<DIR, int (*)(DIR*)> listing_;
};

}  // namespace eckart::io
