#include "pipeline/input_identity.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "io/file_comparison.hpp"

namespace eckart {
namespace {

bool ends_with_path(std::string_view path, std::string_view end) {
  return !end.empty() && path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

/// An inode is another in a copy, and after a move to another disk.
bool has_same_times(const FileState& a, const FileState& b) {
  return a.size == b.size && a.mtime_ns == b.mtime_ns;
}

}  // namespace

std::size_t root_size(const std::string& path, const std::filesystem::path& relative) {
  const std::string end = relative.lexically_normal().native();
  if (path.size() > end.size() && ends_with_path(path, end)) return path.size() - end.size();
  return path.rfind('/') + 1;
}

SameInput same_input(const ledger::Entry& known, const InputIdentity& input) {
  const bool same_path = known.input == input.path;
  if (!same_path && !ends_with_path(known.input, input.path.substr(input.root_size)))
    return SameInput::no;
  const SameInput otherwise = same_path ? SameInput::changed : SameInput::no;
  if (!known.content.empty() && !input.content.empty())
    return known.content == input.content ? SameInput::yes : otherwise;
  if (!has_same_times(known.state, input.state)) return otherwise;
  const auto& copy_of = input.copy_of;
  const bool is_copy = std::find(copy_of.begin(), copy_of.end(), known.input) != copy_of.end();
  return same_path || is_copy ? SameInput::yes : SameInput::maybe;
}

bool is_moved_or_copied(const std::string& old_path, const std::string& path,
                        const io::InputFile* open) {
  struct stat old_file {
  }, file{};
  if (::stat(old_path.c_str(), &old_file) != 0) return errno == ENOENT || errno == ENOTDIR;
  if ((open ? ::fstat(open->descriptor().get(), &file) : ::stat(path.c_str(), &file)) != 0)
    return false;
  if (old_file.st_dev == file.st_dev && old_file.st_ino == file.st_ino) return true;
  const io::Likeness likeness =
      open ? io::compare(old_path, *open) : io::compare(old_path, std::filesystem::path(path));
  return likeness == io::Likeness::same;
}

}  // namespace eckart
