#include "pipeline/input_match.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "io/file_comparison.hpp"
#include "io/open_archive.hpp"
#include "pipeline/normal_path.hpp"

namespace eckart::pipeline {
namespace {

bool ends_with_path(std::string_view path, std::string_view end) {
  return !end.empty() && path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

/// Does not compare inodes: they differ in a copy, after a move to another disk, and on some file
/// systems after each mount.
bool has_same_size_and_mtime(const files::FileState& a, const files::FileState& b) {
  return a.size == b.size && a.mtime_ns == b.mtime_ns;
}

bool has_same_content(const std::string& a, const std::string& b) try {
  return io::content_hash(io::InputFile(a)) == io::content_hash(io::InputFile(b));
} catch (const ItemError&) {
  return false;
}

}  // namespace

std::size_t root_length(const std::string& path, const std::filesystem::path& relative) {
  const std::string end = normal_path(relative);
  if (path.size() > end.size() && ends_with_path(path, end)) return path.size() - end.size();
  return path.rfind('/') + 1;
}

InputMatch match_input(const ledger::OutputEntry& known, const InputIdentity& input) {
  const bool same_path = known.input == input.path;
  if (!same_path && !ends_with_path(known.input, input.path.substr(input.root_length)))
    return InputMatch::different;
  const InputMatch otherwise = same_path ? InputMatch::changed : InputMatch::different;
  if (!known.content_hash.empty() && !input.content_hash.empty())
    return known.content_hash == input.content_hash ? InputMatch::same : otherwise;
  if (!has_same_size_and_mtime(known.state, input.state)) return otherwise;
  const bool has_inodes = known.state.inode != 0 && input.state.inode != 0;
  if (same_path && input.compares_inode && has_inodes && known.state.inode != input.state.inode)
    return InputMatch::changed;
  const auto& original_paths = input.original_paths;
  const bool is_copy =
      std::find(original_paths.begin(), original_paths.end(), known.input) != original_paths.end();
  return same_path || is_copy ? InputMatch::same : InputMatch::uncertain;
}

bool is_moved_or_copied(const std::string& old_path, const std::string& path,
                        const io::InputFile* open) {
  struct stat old_file {
  }, file{};
  if ((open && open->is_member()) || io::parse_member_path(path) || io::parse_member_path(old_path))
    return !io::input_exists(old_path) || has_same_content(old_path, path);
  if (::stat(old_path.c_str(), &old_file) != 0) return errno == ENOENT || errno == ENOTDIR;
  if ((open ? ::fstat(open->descriptor().get(), &file) : ::stat(path.c_str(), &file)) != 0)
    return false;
  if (old_file.st_dev == file.st_dev && old_file.st_ino == file.st_ino) return true;
  const io::FileComparison comparison =
      open ? io::compare_files(old_path, *open)
           : io::compare_files(old_path, std::filesystem::path(path));
  return comparison == io::FileComparison::same;
}

}  // namespace eckart::pipeline
