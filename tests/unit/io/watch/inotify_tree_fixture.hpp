#pragma once

#include <gmock/gmock.h>
#include <poll.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "io/watch/inotify_tree.hpp"
#include "io/watch/path_filter.hpp"
#include "io/watch/tree_scan.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {

/// A folder that is watched with real inotify. Tests do not sleep: events arrive in order, so all
/// events have arrived when that of the last file has.
class InotifyTreeTest : public testing::Test {
 protected:
  using Names = std::set<std::string>;

  static constexpr int kDeadlineMs = 30000;

  void watch(files::LinkPolicy links = files::LinkPolicy::none,
             std::vector<std::filesystem::path> exclude = {}) {
    WatchOptions options;
    options.root = root_;
    options.links = links;
    options.exclude = std::move(exclude);
    path_filter_ = std::make_unique<PathFilter>(options);
    const RootDirectoryPtr root = RootDirectory::open(root_, links);
    tree_ = std::make_unique<InotifyTree>(*path_filter_, root);
    ASSERT_EQ(tree_->limit_error(), "");
    scan_ = std::make_unique<TreeScan>(
        *path_filter_, root,
        [this](const std::string& folder) {
          const auto added = tree_->add(folder);
          return added == InotifyTree::AddResult::watched ||
                 added == InotifyTree::AddResult::unwatched;
        },
        [this](const std::string& folder, int) { unreadable_.insert(folder); },
        [this](const std::string& link) { ignored_.insert(link); });
    full_scan();
  }

  /// Returns the names of the files that it finds.
  Names full_scan() {
    tree_->begin_scan();
    unreadable_.clear();
    scan_->push({});
    const Names names = finish_scan();
    if (unreadable_.empty()) tree_->end_scan();
    return names;
  }

  /// Returns the files that events and scans of new folders reported since the last call.
  Names arrivals() {
    const std::string cookie = "cookie" + std::to_string(++cookies_) + ".png";
    write(cookie);
    Names names;
    overflow_ = root_event_ = false;
    while (!names.contains(cookie) && !overflow_ && wait_for_events()) {
      for (const TreeEvent& event : tree_->read()) apply(event, names);
    }
    names.merge(finish_scan());
    std::erase_if(names, [](const std::string& name) { return name.starts_with("cookie"); });
    return names;
  }

  /// Returns the number of watches according to the kernel.
  std::size_t kernel_watches() const {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(tree_->descriptor()));
    std::size_t count = 0;
    for (std::string line; std::getline(info, line);) count += line.starts_with("inotify wd:");
    return count;
  }

  std::filesystem::path at(const std::filesystem::path& name) const { return root_ / name; }
  void write(const std::filesystem::path& name, const std::string& text = "x") const {
    std::ofstream(at(name)) << text;
  }
  void make(const std::filesystem::path& name) const {
    std::filesystem::create_directories(at(name));
  }
  void move(const std::filesystem::path& from, const std::filesystem::path& to) const {
    std::filesystem::rename(at(from), at(to));
  }

  const test::TempFolder folder_;
  const std::filesystem::path outside_ = folder_.path() / "outside";  // on the same file system
  const std::filesystem::path root_ = folder_.path() / "root";
  std::unique_ptr<PathFilter> path_filter_;
  std::unique_ptr<InotifyTree> tree_;
  std::unique_ptr<TreeScan> scan_;
  Names removed_files_, removed_folders_, unreadable_, ignored_;
  bool overflow_ = false, root_event_ = false;  // in the last arrivals()

 private:
  void SetUp() override {
    std::filesystem::create_directory(root_);
    std::filesystem::create_directory(outside_);
  }

  bool wait_for_events() const {
    pollfd events{tree_->descriptor(), POLLIN, 0};
    const bool some = ::poll(&events, 1, kDeadlineMs) > 0;
    EXPECT_TRUE(some) << "no event arrived";
    return some;
  }

  void apply(const TreeEvent& event, Names& names) {
    switch (event.kind) {
      case TreeEvent::file_changed:
        names.insert(event.path);
        if (std::filesystem::is_directory(at(event.path))) scan_->push_link(event.path);
        break;
      case TreeEvent::unread_file_added:
      case TreeEvent::unread_file_removed:
        break;
      case TreeEvent::file_removed:
        removed_files_.insert(event.path);
        break;
      case TreeEvent::folder_removed:
        removed_folders_.insert(event.path);
        break;
      case TreeEvent::folder_added:
        scan_->push(event.path);
        break;
      case TreeEvent::overflow:
        overflow_ = true;
        break;
      case TreeEvent::root_changed:
        root_event_ = true;
        break;
    }
  }

  Names finish_scan() {
    Names names;
    while (!scan_->is_done()) {
      for (std::string& name : scan_->step(3)) names.insert(std::move(name));
    }
    return names;
  }

  int cookies_ = 0;
};

}  // namespace eckart::io
