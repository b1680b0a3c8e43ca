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

/// What has happened in a tree; the path is below its root.
struct TreeEvent {
  enum Kind {
    arrived,         ///< a file may be new, or changed; or it is a link to a folder
    left,            ///< a file, by this name
    folder_removed,  ///< a folder, or a link to one, with all below it
    folder,          ///< is new, or can be read now: to be added, and scanned
    overflow,        ///< events were lost
    root,            ///< may be another folder by now, or none
  };
  Kind kind;
  std::string path;
  friend bool operator==(const TreeEvent&, const TreeEvent&) = default;
};

/// The watched folders of a tree. A folder is added first, and then scanned: what comes into it
/// meanwhile is seen twice rather than never. Used by one thread.
class InotifyTree {
 public:
  /// Where there is no inotify to be had, shortage() says so.
  InotifyTree(const PathFilter& selection, RootDirectoryPtr root);

  enum class Added {
    watched,
    unwatched,  ///< and to be scanned all the same; where that is for lack of means, see shortage()
    elsewhere,  ///< watched already, under another path that leads to it
    gone,       ///< no folder, or a link that is not followed is in its path
  };
  Added add(const std::string& folder);

  /// Readable when there are events; -1 where there never are any.
  int descriptor() const { return inotify_.get(); }
  /// Some of the events that have come, in their order; empty when there are none.
  std::vector<TreeEvent> read();

  /// From here on all folders are added anew, ...
  void begin_scan();
  /// ... and have been: the others are gone, though no event has said so.
  void end_scan();

  /// Why not all folders are watched, with the setting of the system that limits them; or empty.
  const std::string& shortage() const { return limit_error_; }
  std::size_t watches() const { return by_number_.size(); }

 private:
  struct FolderWatch {
    int number;
    unsigned scan;  // in which it was added last
  };
  using Folders = std::map<std::string, FolderWatch>;

  void open();
  Added failed_to_add(int error);
  void drop(const std::string& folder, int but = -1);
  Folders::iterator drop(Folders::iterator folder, int but);
  void translate(const inotify_event& event, std::vector<TreeEvent>& events);
  void translate_self_event(const std::string& folder, unsigned mask,
                            std::vector<TreeEvent>& events);
  void translate_folder(const std::string& path, unsigned mask, std::vector<TreeEvent>& events);
  void translate_file(const std::string& path, std::string_view name, unsigned mask,
                      std::vector<TreeEvent>& events);

  const PathFilter& path_filter_;
  const RootDirectoryPtr root_;
  FileDescriptor inotify_;
  Folders folders_;
  std::unordered_map<int, Folders::iterator> by_number_;
  unsigned scan_ = 0;
  std::string limit_error_;
  std::vector<char> buffer_;
};

}  // namespace eckart::io
