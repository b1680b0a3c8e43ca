#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "io/own_folders.hpp"
#include "io/rooted_file.hpp"
#include "io/unread_files.hpp"

namespace eckart::io {

/// The names of folders, and of links to folders, in one folder.
using FolderNames = std::shared_ptr<const std::set<std::string>>;

/// One input file. `relative` is its path below the output folder, in the mirrored tree.
struct SourceItem {
  std::filesystem::path file;
  std::filesystem::path relative;
  Outcome outcome;              ///< failed if the source knows that the file cannot be processed
  int job = 0;                  ///< index of the job
  int attempt = 1;              ///< since the last change of the file; the first is 1
  bool is_last_attempt = true;  ///< a file that does not decode counts as failed, not as incomplete
  RootedFile rooted_file{};     ///< set by a watch: the only way to access the file
  FileIdentity identity{};      ///< set by a watch: the identity when the file was last examined
  FolderNames sibling_folders{};  ///< in the folder of the file; null: unknown
};

/// Yields input files. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// Returns the next file. Returns nullopt at the end, and soon after `stop` is requested. Throws
  /// EnvironmentError if descriptors or memory ran out.
  virtual std::optional<SourceItem> next(const std::stop_token& stop) = 0;
  /// Like next(), and returns up to `max` files at once if more are known already. Returns none at
  /// the end.
  virtual std::vector<SourceItem> next_group(const std::stop_token& stop, std::size_t max);
  /// Whether next() may wait for a program that creates files or writes a list, not only for a
  /// disk.
  virtual bool may_block() const { return false; }
  /// The number of entries that were ignored: hidden, links to folders, or without the name of an
  /// image.
  virtual std::int64_t ignored_count() const { return 0; }
  /// The files among them that are not read because of their names.
  virtual UnreadFiles unread_files() const { return {}; }
  static constexpr std::size_t kMaxUnreadExamples = 100;
  /// The first of them, at most kMaxUnreadExamples.
  virtual std::vector<std::filesystem::path> unread_examples() const { return {}; }
  /// The folders below the inputs that were listed and are output folders of eckart.
  virtual std::vector<std::filesystem::path> output_folders() const { return {}; }

 protected:
  /// next_group() of a source that has its next items at hand.
  std::vector<SourceItem> next_up_to(const std::stop_token& stop, std::size_t max);
};

/// Returns a source for one input: a folder, a tar archive, a file of any name, also one in an
/// archive, or one failed item (not_found, unreadable). A folder yields all images below it, folder
/// by folder, each in order of names, and at the name of an archive the images in it.
/// Links to folders are not followed. A folder that cannot be read, or that is in one of
/// `own_folders` through a mount, yields one failed item. Folders are listed on demand, so memory
/// does not grow with the tree. Throws EnvironmentError if descriptors or memory ran out.
std::unique_ptr<Source> make_source(const std::filesystem::path& input,
                                    const OwnFolders& own_folders = {});

/// Returns a source for the files and folders in `list`, one path per line; `-` is stdin. A line
/// ends with `separator`, a newline or a null byte. The path
/// below the output folder is the path in the line, without components that lead out of it:
/// `/a/../b.png` becomes `b.png`. Empty lines are ignored. A path that contains `output`, or is
/// inside it, yields one failed item. The function and next() throw FatalError like LineReader.
std::unique_ptr<Source> make_list_source(const std::filesystem::path& list,
                                         const std::filesystem::path& output,
                                         char separator = '\n');

/// Returns a source that yields the items of one source after the other.
std::unique_ptr<Source> chain_sources(std::vector<std::unique_ptr<Source>> sources);

}  // namespace eckart::io
