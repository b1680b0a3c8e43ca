#include "io/quarantine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "hash/name_hash.hpp"
#include "io/environment_error.hpp"
#include "io/state_folder.hpp"
#include "io/sync_folder.hpp"
#include "io/temporary_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecordSuffix = ".record.json";  // the longest of the suffixes
constexpr std::string_view kKeptRecordSuffix = ".kept.json";
constexpr std::string_view kDirectorySuffix = ".d";
constexpr std::size_t kMaxNameBytes = 240 - kRecordSuffix.size();  // leaves bytes for a number

/// Returns a shorter name if `name` is too long for a suffix. The extension is kept, up to 16
/// bytes.
std::string shorten_name(const fs::path& name) {
  if (name.native().size() <= kMaxNameBytes) return name;
  const std::string extension = name.extension().native().substr(0, 16);
  const std::string end = "-" + hash::name_digest(name.native()) + extension;
  return name.native().substr(0, kMaxNameBytes - end.size()) + end;
}

/// Returns the name of an input folder in the quarantine. It never equals the name of an image file
/// or a record.
std::string directory_name(const fs::path& name) {
  const std::string& text = name.native();
  const bool could_be_a_file = codec::is_image_file_name(text) || text.ends_with(kRecordSuffix) ||
                               text.ends_with(kKeptRecordSuffix) ||
                               text.ends_with(kDirectorySuffix);
  return could_be_a_file ? shorten_name(name) + std::string(kDirectorySuffix) : text;
}

/// Bytes of a file on its disk, and no more than its size: a sparse file may have less.
std::int64_t bytes_of(const fs::path& file) {
  constexpr std::int64_t kBlock = 512;  // the unit of st_blocks
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return 0;
  return std::min<std::int64_t>(status.st_size, kBlock * status.st_blocks);
}

/// Returns the path relative to the quarantine folder.
fs::path path_in_quarantine(const fs::path& relative) {
  fs::path path;
  for (const fs::path& name : relative.parent_path()) path /= directory_name(name);
  return path / shorten_name(relative.filename());
}

[[noreturn]] void fail(const fs::path& file, int error) {
  const std::string message =
      "cannot write " + file.string() + ": " + std::generic_category().message(error);
  check_environment(error, message);
  throw ItemError(FailureReason::not_written, message);
}

/// Returns the errno of lstat; 0 if the entry exists.
int lstat_error(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? 0 : errno;
}

bool check_entry_exists(const fs::path& path) {
  const int error = lstat_error(path);
  if (error != 0 && !is_missing_error(error)) fail(path, error);
  return error == 0;
}

fs::path kept_record_of(const fs::path& path) {
  return path.native() + std::string(kKeptRecordSuffix);
}

}  // namespace

fs::path quarantine_folder(const fs::path& output) {
  return output / files::kStateFolder / "quarantine";
}

fs::path file_of_record(const fs::path& record) {
  std::string path = record.native();
  path.resize(path.size() - (is_kept_record(path) ? kKeptRecordSuffix : kRecordSuffix).size());
  return path;
}

bool is_kept_record(const fs::path& record) { return record.native().ends_with(kKeptRecordSuffix); }

fs::path record_path_of(const fs::path& path) { return path.native() + std::string(kRecordSuffix); }

void remove_empty_folders(const RootDirectory& quarantine, const fs::path& path) {
  for (fs::path empty = path.parent_path(); !empty.empty(); empty = empty.parent_path()) {
    const DirectoryPtr parent = quarantine.open_below(empty.parent_path());
    if (!parent || ::unlinkat(parent->descriptor(), empty.filename().c_str(), AT_REMOVEDIR) != 0)
      return;
  }
}

std::vector<fs::path> quarantine_records(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error, ignored;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const std::string& path = entry->path().native();
    if ((path.ends_with(kRecordSuffix) || path.ends_with(kKeptRecordSuffix)) &&
        !entry->is_symlink(ignored) && entry->is_regular_file(ignored))
      found.emplace_back(entry->last_write_time(ignored), entry->path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> files;
  files.reserve(found.size());
  for (auto& [time, path] : found) files.push_back(std::move(path));
  return files;
}

RootDirectoryPtr open_quarantine(const fs::path& folder) {
  return RootDirectory::open(
      state_folder(folder.parent_path().parent_path()).child(folder.filename()));
}

Quarantine::Quarantine(const fs::path& output, const QuarantineOptions& options)
    : root_(output / files::kStateFolder), folder_(quarantine_folder(output)), options_(options) {}

/// Creates the folder if missing.
RootDirectoryPtr Quarantine::open_root() const {
  try {
    make_folders(root_);
  } catch (const fs::filesystem_error& error) {
    fail(root_, error.code().value());
  }
  RootDirectoryPtr root = RootDirectory::open(state_folder(root_.parent_path()));
  if (!root) fail(root_, errno);
  return root;
}

/// The record is written first, so that no file is in the quarantine without a record.
fs::path Quarantine::add(ClaimedFile& file, const fs::path& relative,
                         const std::string& record_json) {
  const std::lock_guard lock(mutex_);
  const fs::path first_path = folder_ / path_in_quarantine(relative);
  fs::path path = first_path;
  const auto is_taken = [](const fs::path& other) {  // or a kept record of an earlier version
    return check_entry_exists(other) || check_entry_exists(record_path_of(other));
  };
  for (int number = 2; path == first_path ? check_entry_exists(path) : is_taken(path); ++number)
    path =
        first_path.parent_path() / (std::to_string(number) + "-" + first_path.filename().native());
  write_record(record_path_of(path), record_json);
  try {
    file.move_to(*open_root(), path.lexically_relative(root_), options_.max_copy_mb);
  } catch (const std::runtime_error&) {
    static_cast<void>(open_root()->remove_below(record_path_of(path).lexically_relative(root_)));
    throw;
  }
  return path;
}

fs::path Quarantine::add_kept_record(const fs::path& relative, const std::string& record_json) {
  fs::path path = kept_record_of(folder_ / path_in_quarantine(relative));
  write_record(path, record_json);
  remove_legacy_kept_record(relative);
  return path;
}

bool Quarantine::has_kept_record(const fs::path& relative) const {
  const fs::path path = folder_ / path_in_quarantine(relative);
  return !is_missing_error(lstat_error(kept_record_of(path))) ||
         (options_.keeps_inputs && has_legacy_kept_record(path));
}

bool Quarantine::has_legacy_kept_record(const fs::path& path) const {
  return lstat_error(record_path_of(path)) == 0 && is_missing_error(lstat_error(path));
}

bool Quarantine::has_file(const fs::path& relative) const {
  const int error = lstat_error(folder_ / path_in_quarantine(relative));
  return !is_missing_error(error) && error != ENAMETOOLONG;
}

void Quarantine::remove_kept_record(const fs::path& relative) {
  const fs::path path = path_in_quarantine(relative);
  if (lstat_error(kept_record_of(folder_ / path)) == 0) {
    const RootDirectoryPtr quarantine = open_quarantine(folder_);
    if (quarantine && quarantine->remove_below(kept_record_of(path)))
      remove_empty_folders(*quarantine, path);
  }
  remove_legacy_kept_record(relative);
}

void Quarantine::remove_legacy_kept_record(const fs::path& relative) {
  const fs::path path = path_in_quarantine(relative);
  if (!has_legacy_kept_record(folder_ / path)) return;
  const std::lock_guard lock(mutex_);  // it may be the record of a file that is being moved in
  const RootDirectoryPtr quarantine = open_quarantine(folder_);
  if (quarantine && has_legacy_kept_record(folder_ / path) &&
      quarantine->remove_below(record_path_of(path)))
    remove_empty_folders(*quarantine, path);
}

void Quarantine::write_record(const fs::path& record_path, const std::string& record_json) const {
  if (lstat_error(record_path) == ENAMETOOLONG)
    fail(record_path, ENAMETOOLONG);  // no later call would find the record
  const RootDirectoryPtr root = open_root();
  const DirectoryPtr folder = root->make_below(record_path.lexically_relative(root_).parent_path());
  if (!folder) fail(record_path, errno);
  const fs::path folder_path = record_path.parent_path();
  try {
    TemporaryFile file(*folder);
    file.write(std::as_bytes(std::span(record_json)));
    if (options_.durable) file.sync();
    file.close();
    if (options_.durable) sync_ancestors(*folder, folder_path);
    file.rename_to(record_path.filename());
  } catch (const std::system_error& error) {
    fail(record_path, error.code().value());
  }
  if (!options_.durable) return;
  try {
    sync_directory(*folder, folder_path);
  } catch (const EnvironmentError&) {  // without a durable record the input is tried again
    ::unlinkat(folder->descriptor(), record_path.filename().c_str(), 0);
    throw;
  }
}

void Quarantine::remove_stale_temporaries() const {
  const RootDirectoryPtr quarantine = open_quarantine(folder_);
  if (!quarantine) return;
  std::error_code error, ignored;
  fs::recursive_directory_iterator entry(folder_, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!is_foreign_temporary(entry->path().filename().native()) || entry->is_directory(ignored))
      continue;
    static_cast<void>(quarantine->remove_below(entry->path().lexically_relative(folder_)));
  }
}

std::vector<fs::path> Quarantine::sweep(std::chrono::system_clock::time_point now,
                                        QuarantineUsage* usage) const {
  std::vector<fs::path> removed;
  std::error_code error;
  QuarantineUsage left;
  if (usage != nullptr) *usage = left;
  const RootDirectoryPtr quarantine = open_quarantine(folder_);
  if (!quarantine) return removed;
  const std::int64_t max_bytes = options_.max_mb << 20;
  // A file that alone exceeds the limit does not count, so it does not evict others.
  const auto counted = [&](std::int64_t size) { return size > max_bytes ? 0 : size; };
  const std::vector<fs::path> files = quarantine_records(folder_);
  std::vector<std::int64_t> sizes;
  std::int64_t counted_bytes = 0;
  for (const fs::path& file : files) {
    sizes.push_back(bytes_of(file) + (is_kept_record(file) ? 0 : bytes_of(file_of_record(file))));
    counted_bytes += counted(sizes.back());
    left.bytes += sizes.back();
    ++left.files;
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path& file = files[i];
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (error) continue;  // the age is unknown
    const auto written = fs::file_time_type::clock::to_sys(time);
    const bool is_expired =
        options_.keep_days > 0 && now - written > std::chrono::days(options_.keep_days);
    const bool is_over_limit = options_.max_mb > 0 && counted_bytes > max_bytes;
    if (!is_expired && !is_over_limit) break;
    if (!is_expired && counted(sizes[i]) == 0) continue;
    counted_bytes -= counted(sizes[i]);
    left.bytes -= sizes[i];
    --left.files;
    const fs::path path = file.lexically_relative(folder_);
    if (!is_kept_record(path)) static_cast<void>(quarantine->remove_below(file_of_record(path)));
    static_cast<void>(quarantine->remove_below(path));
    remove_empty_folders(*quarantine, path);
    removed.push_back(is_kept_record(file) ? file : file_of_record(file));
  }
  if (usage != nullptr) *usage = left;
  return removed;
}

}  // namespace eckart::io
