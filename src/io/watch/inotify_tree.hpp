#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "files/file_descriptor.hpp"
#include "io/root_directory.hpp"
#include "io/watch/path_filter.hpp"

struct inotify_event;

namespace eckart::io {

/// An event in a tree. The path is relative to its root.
struct TreeEvent {
  enum Kind {
    file_changed,         ///< a file may be new or changed; or a link to a folder may be new
    unread_file_added,    ///< a file, or a link, without the name of an image
    unread_file_removed,  ///< likewise; the path is its name
    file_removed,         ///< the name of a file was removed
    folder_removed,       ///< a folder, or a link to one, was removed with everything below it
    folder_added,         ///< a folder is new or has become readable: add and scan it
    overflow,             ///< events were lost
    root_changed,         ///< the root may be missing or another folder now
  };
  Kind kind;
  std::string path;
  friend bool operator==(const TreeEvent&, const TreeEvent&) = default;
};

/// The inotify watches of a tree. Add a folder before you scan it: then a file that arrives in
/// between may be found twice, but is not missed. Used by one thread.
class InotifyTree {
 public:
  /// If inotify is not available, limit_error() says why.
  InotifyTree(const PathFilter& path_filter, RootDirectoryPtr root);

  enum class AddResult {
    watched,
    unwatched,  ///< scan it anyway; limit_error() says why, if a system limit is the cause
    duplicate,  ///< watched already, under another path
    missing,    ///< not a folder, or its path contains a link that is not followed
  };
  AddResult add(const std::string& folder);

  /// A descriptor that is readable if there are events; -1 if inotify is not available.
  int descriptor() const { return inotify_.get(); }
  /// Returns some of the queued events, in order; empty if there are none.
  std::vector<TreeEvent> read();

  /// Call add() for all folders between begin_scan() and end_scan().
  void begin_scan();
  /// Removes the folders that were not added since begin_scan(), because they no longer exist.
  void end_scan();

  /// Why some folders are not watched, with the system setting that limits them; or empty.
  const std::string& limit_error() const { return limit_error_; }
  std::size_t watch_count() const { return by_descriptor_.size(); }

 private:
  struct FolderWatch {
    int descriptor;
    unsigned last_scan;  // the scan in which the folder was last added
  };
  using Folders = std::map<std::string, FolderWatch>;

  void open();
  AddResult report_add_error(int error);
  void remove_outdated_watches(const std::string& folder, int error);
  void remove_watches(const std::string& folder, int kept_watch = -1);
  Folders::iterator remove_watch(Folders::iterator folder, int kept_watch);
  void translate(const inotify_event& event, std::vector<TreeEvent>& events);
  void translate_self_event(const std::string& folder, unsigned mask,
                            std::vector<TreeEvent>& events);
  void translate_folder(const std::string& path, unsigned mask, std::vector<TreeEvent>& events);
  void translate_file(const std::string& path, std::string_view name, unsigned mask,
                      std::vector<TreeEvent>& events);

  const PathFilter& path_filter_;
  const RootDirectoryPtr root_;
  files::FileDescriptor inotify_;
  Folders folders_;
  std::unordered_map<int, Folders::iterator> by_descriptor_;
  unsigned scan_ = 0;
  std::string limit_error_;
  std::vector<char> buffer_;
};

}  // namespace eckart::io
