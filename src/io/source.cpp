#include "io/source.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "io/archive_source.hpp"
#include "io/environment_error.hpp"
#include "io/is_within.hpp"
#include "io/line_reader.hpp"
#include "io/open_archive.hpp"
#include "io/parent_links.hpp"
#include "io/root_directory.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Throws EnvironmentError if descriptors or memory ran out, because the file is not the cause.
SourceItem failed_item(const fs::path& file, const fs::path& relative,
                       const std::error_code& error) {
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    return {file, relative,
            Outcome::failed(Stage::source, FailureReason::not_found, "no such file or folder")};
  }
  const std::string detail = "cannot be read: " + error.message();
  check_exhaustion(error.value(), "cannot read " + file.native() + ": " + error.message());
  return {file, relative, Outcome::failed(Stage::source, FailureReason::unreadable, detail)};
}

/// Returns the last component of a path, also if it ends with a slash.
fs::path last_component(const fs::path& path) {
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

/// Yields one item.
class SingleSource : public Source {
 public:
  explicit SingleSource(SourceItem item) : item_(std::move(item)) {}
  std::optional<SourceItem> next(const std::stop_token&) override {
    return std::exchange(item_, std::nullopt);
  }

 private:
  std::optional<SourceItem> item_;
};

/// Stores the names of one folder and the paths of the folders that are not listed yet.
class FolderSource : public Source {
 public:
  FolderSource(fs::path root, fs::path output_prefix, OwnFolders own_folders)
      : root_(std::move(root)),
        output_prefix_(std::move(output_prefix)),
        own_folders_(std::move(own_folders)) {
    pending_.emplace_back();
  }

  std::optional<SourceItem> next(const std::stop_token& stop) override {
    while (!stop.stop_requested()) {
      if (archive_) {
        if (std::optional<SourceItem> item = archive_->next(stop)) return item;
        if (!stop.stop_requested()) end_archive();
        continue;
      }
      if (!names_.empty() && is_archive_next()) {
        archive_ =
            make_archive_source(file_prefix_ + names_.back(), relative_prefix_ + names_.back());
        names_.pop_back();
        continue;
      }
      if (!names_.empty()) return next_of_folder();
      if (pending_.empty()) return std::nullopt;
      const fs::path folder = std::move(pending_.back());
      pending_.pop_back();
      file_prefix_ = (root_ / folder / "").native();
      relative_prefix_ = (output_prefix_ / folder / "").native();
      own_folder_ = nullptr;
      if (const std::error_code error = list(folder, stop)) {
        return failed_item(path_of(folder), output_prefix_ / folder, error);
      }
      if (own_folder_)
        return SourceItem{path_of(folder), output_prefix_ / folder,
                          Outcome::failed(Stage::source, FailureReason::output_collision,
                                          "it is the output folder " + own_folder_->string())};
    }
    return std::nullopt;
  }

  std::vector<SourceItem> next_group(const std::stop_token& stop, std::size_t max) override {
    std::vector<SourceItem> items = Source::next_group(stop, max);
    if (items.empty()) return items;
    if (archive_) {
      std::ranges::move(archive_->next_group(stop, max - items.size()), std::back_inserter(items));
      return items;
    }
    items.reserve(std::min(max, names_.size() + 1));
    while (items.size() < max && !names_.empty() && !is_archive_next())
      items.push_back(next_of_folder());
    return items;
  }

  std::int64_t ignored_count() const override {
    return ignored_ + (archive_ ? archive_->ignored_count() : 0);
  }
  UnreadFiles unread_files() const override {
    UnreadFiles files = unread_files_;
    if (archive_) files.add(archive_->unread_files());
    return files;
  }
  std::vector<fs::path> unread_examples() const override {
    std::vector<fs::path> files = unread_examples_;
    if (archive_) std::ranges::copy(archive_->unread_examples(), std::back_inserter(files));
    files.resize(std::min(files.size(), kMaxUnreadExamples));
    return files;
  }
  std::vector<fs::path> output_folders() const override { return output_folders_; }

 private:
  SourceItem next_of_folder() {
    SourceItem item{file_prefix_ + names_.back(), relative_prefix_ + names_.back(), {}};
    names_.pop_back();
    item.sibling_folders = folder_names_;
    return item;
  }

  bool is_archive_next() const { return !codec::is_image_file_name(names_.back()); }

  void end_archive() {
    ignored_ = ignored_count();
    unread_files_ = unread_files();
    unread_examples_ = unread_examples();
    archive_.reset();
  }

  fs::path path_of(const fs::path& folder) const { return folder.empty() ? root_ : root_ / folder; }

  /// Returns false, with errno, on failure.
  bool open_root() {
    root_directory_ = RootDirectory::open(root_);
    const DirectoryPtr root = root_directory_ ? root_directory_->open_below({}) : nullptr;
    if (root) own_folders_ = own_folders_.without_those_around(*root, root_);
    return root != nullptr;
  }

  /// Fills names_ and pending_, the next entry last. After an error they hold what was read before
  /// it. Fails with ENOTDIR if the folder was replaced by a link.
  std::error_code list(const fs::path& folder, const std::stop_token& stop) {
    const auto failed = [] {
      return std::error_code(errno == ELOOP ? ENOTDIR : errno, std::generic_category());
    };
    if (!root_directory_ && !open_root()) return failed();
    const DirectoryPtr directory = root_directory_->open_below(folder);
    files::FileDescriptor reading =
        directory ? directory->open_for_reading() : files::FileDescriptor();
    if (!reading) return failed();
    if ((own_folder_ = own_folders_.find(*directory, path_of(folder)))) return {};
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(reading.get()), &::closedir);
    if (!listing) return failed();
    reading.release();
    std::vector<std::string> subfolders;
    auto folder_names = std::make_shared<std::set<std::string>>();
    errno = 0;
    for (const dirent* entry = nullptr; (entry = ::readdir(listing.get())); errno = 0) {
      if (stop.stop_requested()) return {};
      if (classify(*directory, *entry, subfolders)) folder_names->emplace(entry->d_name);
      if (entry->d_name == std::string_view(files::kStateFolder) && !folder.empty())
        output_folders_.push_back(path_of(folder));
    }
    const std::error_code error = failed();
    folder_names_ = std::move(folder_names);
    std::sort(names_.begin(), names_.end(), std::greater<>());
    std::sort(subfolders.begin(), subfolders.end(), std::greater<>());
    for (const std::string& name : subfolders) pending_.push_back(folder / name);
    return error;
  }

  /// Yields anything that is not a folder and has the name of an image or archive. For a broken
  /// link or a FIFO, who opens it reports the error. Returns whether the entry is a folder or a
  /// link to one.
  bool classify(const Directory& directory, const dirent& entry,
                std::vector<std::string>& subfolders) {
    std::string name = entry.d_name;
    if (name == "." || name == "..") return false;
    const bool may_be_link = entry.d_type == DT_LNK || entry.d_type == DT_UNKNOWN;
    const bool is_real_folder =
        entry.d_type == DT_DIR || (may_be_link && is_folder(directory, name, AT_SYMLINK_NOFOLLOW));
    const bool is_folder_or_link_to_one =
        is_real_folder || (may_be_link && is_folder(directory, name, 0));
    if (is_real_folder && !name.starts_with('.')) {
      subfolders.push_back(std::move(name));
    } else if (!is_folder_or_link_to_one && is_input_file_name(name)) {
      names_.push_back(std::move(name));
    } else {
      ++ignored_;
      if (!is_folder_or_link_to_one && unread_files_.add(name) &&
          unread_examples_.size() < kMaxUnreadExamples)
        unread_examples_.emplace_back(file_prefix_ + name);
    }
    return is_folder_or_link_to_one;
  }

  static bool is_folder(const Directory& directory, const std::string& name, int flags) {
    struct stat status {};
    return ::fstatat(directory.descriptor(), name.c_str(), &status, flags) == 0 &&
           S_ISDIR(status.st_mode);
  }

  const fs::path root_;
  const fs::path output_prefix_;  // of root_, below the output folder
  OwnFolders own_folders_;
  const fs::path* own_folder_ = nullptr;  // that the current folder is; null: it is none
  RootDirectoryPtr root_directory_;       // of root_; opened at first use
  // What stands before names_. Text, because a path would be parsed at each step.
  std::string file_prefix_, relative_prefix_;
  std::vector<std::string> names_;   // in descending order: the next name is last
  std::unique_ptr<Source> archive_;  // the archive of this folder that is being read, or null
  FolderNames folder_names_;         // in the folder of names_
  std::vector<fs::path> pending_;    // below root_; the next folder is last
  std::int64_t ignored_ = 0;
  UnreadFiles unread_files_;
  std::vector<fs::path> unread_examples_, output_folders_;
};

/// Yields the items of one source after the other. `next_source` returns nullptr at the end.
class ChainSource : public Source {
 public:
  using NextSource = std::function<std::unique_ptr<Source>(const std::stop_token&)>;
  ChainSource(NextSource next_source, bool may_block)
      : next_source_(std::move(next_source)), may_block_(may_block) {}

  std::optional<SourceItem> next(const std::stop_token& stop) override {
    std::vector<SourceItem> group = next_group(stop, 1);
    return group.empty() ? std::nullopt : std::optional(std::move(group.front()));
  }

  std::vector<SourceItem> next_group(const std::stop_token& stop, std::size_t max) override {
    while (!stop.stop_requested()) {
      if (!current_ && !(current_ = next_source_(stop))) break;
      std::vector<SourceItem> group = current_->next_group(stop, max);
      if (!group.empty()) return group;
      if (stop.stop_requested()) break;
      ignored_ += current_->ignored_count();
      unread_files_.add(current_->unread_files());
      unread_examples_ = unread_examples();
      std::ranges::copy(current_->output_folders(), std::back_inserter(output_folders_));
      current_.reset();
    }
    return {};
  }

  bool may_block() const override { return may_block_; }
  std::int64_t ignored_count() const override {
    return ignored_ + (current_ ? current_->ignored_count() : 0);
  }
  UnreadFiles unread_files() const override {
    UnreadFiles files = unread_files_;
    if (current_) files.add(current_->unread_files());
    return files;
  }
  std::vector<fs::path> unread_examples() const override {
    std::vector<fs::path> files = unread_examples_;
    if (current_) std::ranges::copy(current_->unread_examples(), std::back_inserter(files));
    files.resize(std::min(files.size(), kMaxUnreadExamples));
    return files;
  }
  std::vector<fs::path> output_folders() const override {
    std::vector<fs::path> folders = output_folders_;
    if (current_) std::ranges::copy(current_->output_folders(), std::back_inserter(folders));
    return folders;
  }

 private:
  const NextSource next_source_;
  const bool may_block_;
  std::unique_ptr<Source> current_;
  std::int64_t ignored_ = 0;                                // of the sources that have ended
  UnreadFiles unread_files_;                                // likewise
  std::vector<fs::path> unread_examples_, output_folders_;  // likewise
};

/// Returns the path below the output folder: without root directory, dots and trailing slash.
fs::path output_path_of(const fs::path& path) {
  fs::path output;
  for (const fs::path& part : path.lexically_normal().relative_path()) {
    if (part != "." && part != ".." && !part.empty()) output /= part;
  }
  return output;
}

/// `file_path` and `folder_path` are the paths below the output folder if the input is a file or a
/// folder.
std::unique_ptr<Source> source_at(const fs::path& input, const fs::path& file_path,
                                  const fs::path& folder_path, const OwnFolders& own_folders) {
  std::error_code error;
  const fs::file_status status = fs::status(input, error);
  if (fs::is_directory(status))
    return std::make_unique<FolderSource>(input, folder_path, own_folders);
  if (fs::exists(status) && is_archive_path(input)) return make_archive_source(input, folder_path);
  const bool is_member = error == std::errc::not_a_directory && parse_member_path(input);
  return std::make_unique<SingleSource>(fs::exists(status) || is_member
                                            ? SourceItem{input, file_path, {}}
                                            : failed_item(input, file_path, error));
}

/// Output paths mirror input paths, so neither folder may be inside the other.
std::string collision_with_output(const fs::path& input, const fs::path& output) {
  if (output.empty()) return {};
  std::error_code ignored;  // not a folder
  if (is_within(input, output)) return "it is inside the output folder " + output.string();
  if (fs::is_directory(input, ignored) && is_within(output, input)) {
    return "the output folder " + output.string() + " is inside it";
  }
  return {};
}

std::unique_ptr<Source> source_of_line(const std::string& line, const fs::path& output) {
  const fs::path path = output_path_of(line);
  const std::string collision = collision_with_output(line, output);
  if (collision.empty())
    return source_at(resolve_parent_links(line), path, path, OwnFolders({output}));
  return std::make_unique<SingleSource>(SourceItem{
      line, path, Outcome::failed(Stage::source, FailureReason::output_collision, collision)});
}

}  // namespace

std::vector<SourceItem> Source::next_group(const std::stop_token& stop, std::size_t max) {
  std::vector<SourceItem> group;
  if (max == 0) return group;
  if (std::optional<SourceItem> item = next(stop)) group.push_back(std::move(*item));
  return group;
}

std::vector<SourceItem> Source::next_up_to(const std::stop_token& stop, std::size_t max) {
  std::vector<SourceItem> items;
  while (items.size() < max) {
    std::optional<SourceItem> item = next(stop);
    if (!item) break;
    items.push_back(std::move(*item));
  }
  return items;
}

std::unique_ptr<Source> make_list_source(const fs::path& list, const fs::path& output,
                                         char separator) {
  auto lines = std::make_shared<LineReader>(list, separator);
  return std::make_unique<ChainSource>(
      [lines, output, separator](const std::stop_token& stop) -> std::unique_ptr<Source> {
        while (std::optional<std::string> line = lines->next(stop)) {
          if (separator == '\n' && line->ends_with('\r')) line->pop_back();  // CRLF line ends
          if (!line->empty()) return source_of_line(*line, output);
        }
        return nullptr;
      },
      true);
}

std::unique_ptr<Source> make_source(const fs::path& input, const OwnFolders& own_folders) {
  return source_at(input, last_component(input), fs::path(), own_folders);
}

std::unique_ptr<Source> chain_sources(std::vector<std::unique_ptr<Source>> sources) {
  const bool may_block = std::any_of(sources.begin(), sources.end(),
                                     [](const auto& source) { return source->may_block(); });
  auto rest = std::make_shared<std::vector<std::unique_ptr<Source>>>(std::move(sources));
  return std::make_unique<ChainSource>(
      [rest, i = std::size_t(0)](const std::stop_token&) mutable {
        return i < rest->size() ? std::move((*rest)[i++]) : nullptr;
      },
      may_block);
}

}  // namespace eckart::io
