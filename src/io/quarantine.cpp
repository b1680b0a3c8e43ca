#include "io/quarantine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/state_folder.hpp"
#include "io/codec.hpp"
#include "io/environment.hpp"
#include "io/sync_folder.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".reason.json", kNote = ".stays.json";  // the first is longer
constexpr std::string_view kDirectory = ".d";
constexpr std::size_t kLongestName = 240 - kSuffix.size();  // bytes, and some for a number

/// What a name too long for a suffix is called instead, with its extension.
std::string shortened(const fs::path& name) {
  if (name.native().size() <= kLongestName) return name;
  const std::string extension = name.extension().native().substr(0, 16);
  const std::string end = "-" + std::to_string(std::hash<std::string>{}(name.native())) + extension;
  return name.native().substr(0, kLongestName - end.size()) + end;
}

/// What a directory of the inputs is called: never as a file, or a file's reason, may be.
std::string directory_name(const fs::path& name) {
  const std::string& text = name.native();
  const bool could_be_a_file = looks_like_image(text) || text.ends_with(kSuffix) ||
                               text.ends_with(kNote) || text.ends_with(kDirectory);
  return could_be_a_file ? shortened(name) + std::string(kDirectory) : text;
}

std::int64_t bytes_of(const fs::path& file) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(file, none);
  return none ? 0 : std::int64_t(bytes);
}

/// Below the folder of the quarantine.
fs::path place_of(const fs::path& relative) {
  fs::path place;
  for (const fs::path& name : relative.parent_path()) place /= directory_name(name);
  return place / shortened(relative.filename());
}

[[noreturn]] void fail(const fs::path& file, int error) {
  const std::string message =
      "cannot write " + file.string() + ": " + std::generic_category().message(error);
  check_environment(error, message);
  throw ItemError(Reason::not_written, message);
}

/// The error with which an entry cannot be looked at; 0: it is there.
int look_at(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? 0 : errno;
}

bool means_free(int error) { return error == ENOENT || error == ENOTDIR; }

bool is_there(const fs::path& path) {
  const int error = look_at(path);
  if (error != 0 && !means_free(error)) fail(path, error);
  return error == 0;
}

fs::path note_of(const fs::path& place) { return place.native() + std::string(kNote); }

}  // namespace

fs::path quarantine_folder(const fs::path& output) { return output / kStateFolder / "quarantine"; }

fs::path file_of_reason(const fs::path& reason_file) {
  std::string path = reason_file.native();
  path.resize(path.size() - (is_note(path) ? kNote : kSuffix).size());
  return path;
}

bool is_note(const fs::path& reason_file) { return reason_file.native().ends_with(kNote); }

fs::path reason_file_of(const fs::path& place) { return place.native() + std::string(kSuffix); }

void remove_empty_folders(const RootDirectory& quarantine, const fs::path& place) {
  for (fs::path empty = place.parent_path(); !empty.empty(); empty = empty.parent_path()) {
    const DirectoryPtr around = quarantine.open_below(empty.parent_path());
    if (!around || ::unlinkat(around->descriptor(), empty.filename().c_str(), AT_REMOVEDIR) != 0)
      return;
  }
}

std::vector<fs::path> reason_files(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error, none;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string& path = entry->path().native();
    if ((path.ends_with(kSuffix) || path.ends_with(kNote)) && entry->is_regular_file(none))
      found.emplace_back(entry->last_write_time(none), entry->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> files;
  files.reserve(found.size());
  for (auto& [time, path] : found) files.push_back(std::move(path));
  return files;
}

Quarantine::Quarantine(const fs::path& output, const QuarantineOptions& options)
    : root_(output / kStateFolder), folder_(quarantine_folder(output)), options_(options) {}

/// Made if it is missing.
RootDirectoryPtr Quarantine::open_root() const {
  std::error_code error;
  fs::create_directories(root_, error);
  if (error) fail(root_, error.value());
  RootDirectoryPtr root = RootDirectory::open(root_);
  if (!root) fail(root_, errno);
  return root;
}

/// The reason first: a file without one would be in the quarantine for nobody knows what.
fs::path Quarantine::take(TakenFile& file, const fs::path& relative, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  const fs::path wanted = folder_ / place_of(relative);
  fs::path place = wanted;
  const auto is_another = [](const fs::path& other) {  // or has a note of an earlier version
    return is_there(other) || is_there(reason_file_of(other));
  };
  for (int number = 2; place == wanted ? is_there(place) : is_another(place); ++number)
    place = wanted.parent_path() / (std::to_string(number) + "-" + wanted.filename().native());
  write(reason_file_of(place), reason);
  try {
    file.move_to(*open_root(), place.lexically_relative(root_), options_.max_copy_mb);
  } catch (const std::runtime_error&) {
    static_cast<void>(open_root()->remove_below(reason_file_of(place).lexically_relative(root_)));
    throw;
  }
  return place;
}

fs::path Quarantine::note(const fs::path& relative, const std::string& reason) {
  fs::path place = note_of(folder_ / place_of(relative));
  write(place, reason);
  remove_older_note(relative);
  return place;
}

bool Quarantine::has_note(const fs::path& relative) const {
  const fs::path place = folder_ / place_of(relative);
  return !means_free(look_at(note_of(place))) || has_older_note(place);
}

bool Quarantine::has_older_note(const fs::path& place) const {
  return look_at(reason_file_of(place)) == 0 && means_free(look_at(place));
}

bool Quarantine::has_file(const fs::path& relative) const {
  const int error = look_at(folder_ / place_of(relative));
  return !means_free(error) && error != ENAMETOOLONG;
}

void Quarantine::remove_note(const fs::path& relative) {
  const fs::path place = place_of(relative);
  if (look_at(note_of(folder_ / place)) == 0) {
    const RootDirectoryPtr quarantine = RootDirectory::open(folder_);
    if (quarantine && quarantine->remove_below(note_of(place)))
      remove_empty_folders(*quarantine, place);
  }
  remove_older_note(relative);
}

void Quarantine::remove_older_note(const fs::path& relative) {
  const fs::path place = place_of(relative);
  if (!has_older_note(folder_ / place)) return;
  const std::lock_guard lock(mutex_);  // it may be the reason of a file that just comes
  const RootDirectoryPtr quarantine = RootDirectory::open(folder_);
  if (quarantine && has_older_note(folder_ / place) &&
      quarantine->remove_below(reason_file_of(place)))
    remove_empty_folders(*quarantine, place);
}

void Quarantine::write(const fs::path& reason_file, const std::string& reason) const {
  if (look_at(reason_file) == ENAMETOOLONG)
    fail(reason_file, ENAMETOOLONG);  // nobody would find it
  const RootDirectoryPtr root = open_root();
  const DirectoryPtr folder = root->make_below(reason_file.lexically_relative(root_).parent_path());
  if (!folder) fail(reason_file, errno);
  const fs::path path = reason_file.parent_path();
  try {
    TemporaryFile file(*folder);
    file.write(std::as_bytes(std::span(reason)));
    if (options_.durable) file.sync();
    file.close();
    if (options_.durable) sync_those_around(*folder, path);
    file.rename_to(reason_file.filename());
  } catch (const std::system_error& error) {
    fail(reason_file, error.code().value());
  }
  if (!options_.durable) return;
  try {
    sync_directory(*folder, path);
  } catch (const EnvironmentError&) {  // without it the file comes again
    ::unlinkat(folder->descriptor(), reason_file.filename().c_str(), 0);
    throw;
  }
}

std::vector<fs::path> Quarantine::sweep(std::chrono::system_clock::time_point now) const {
  std::vector<fs::path> removed;
  std::error_code none;
  const RootDirectoryPtr quarantine = RootDirectory::open(folder_);
  if (!quarantine) return removed;
  const std::vector<fs::path> files = reason_files(folder_);
  std::int64_t bytes = 0;
  const std::int64_t most = options_.max_mb << 20;
  const auto counted = [&](const fs::path& file) {  // what is too large alone drives out no other
    const std::int64_t size = bytes_of(file) + (is_note(file) ? 0 : bytes_of(file_of_reason(file)));
    return size > most ? 0 : size;
  };
  for (const fs::path& file : files) bytes += counted(file);
  for (const fs::path& file : files) {
    const fs::file_time_type time = fs::last_write_time(file, none);
    if (none) continue;  // its age is not known
    const auto written = fs::file_time_type::clock::to_sys(time);
    const bool old =
        options_.keep_days > 0 && now - written > std::chrono::days(options_.keep_days);
    const bool much = options_.max_mb > 0 && bytes > most;
    if (!old && !much) break;
    if (!old && counted(file) == 0) continue;
    bytes -= counted(file);
    const fs::path place = file.lexically_relative(folder_);
    if (!is_note(place)) static_cast<void>(quarantine->remove_below(file_of_reason(place)));
    static_cast<void>(quarantine->remove_below(place));
    remove_empty_folders(*quarantine, place);
    removed.push_back(is_note(file) ? file : file_of_reason(file));
  }
  return removed;
}

}  // namespace eckart::io
