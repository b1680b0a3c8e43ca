#include "tar/archive.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <system_error>
#include <utility>

#include "build_id/module.hpp"
#include "core/error.hpp"
#include "tar/entry.hpp"
#include "text/ascii.hpp"

namespace eckart::tar {
namespace {

constexpr std::int64_t kBlockBytes = 512;
constexpr std::size_t kMaxNameBytes = 4095;  // PATH_MAX without its null byte

using ReadEntries = void (*)(int descriptor, const OnEntry& on_entry, std::string& damage);

ReadEntries read_entries_function() {
  static const auto function =
      reinterpret_cast<ReadEntries>(load_function("eckart_tar", "eckart_read_tar_entries"));
  return function;
}

[[noreturn]] void refuse(const std::string& why) {
  throw ItemError(FailureReason::unreadable, why);
}

/// Returns the program whose format the file has, if that is one for compression.
std::string compression_of(std::span<const unsigned char> begin) {
  const auto starts_with = [&](std::string_view magic) {
    return std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size())
        .starts_with(magic);
  };
  if (starts_with("\x1F\x8B")) return "gzip";
  if (starts_with("\x28\xB5\x2F\xFD")) return "zstd";
  if (starts_with("\xFD"
                  "7zXZ"))
    return "xz";
  if (starts_with("BZh")) return "bzip2";
  if (starts_with("\x04\x22\x4D\x18")) return "lz4";
  return {};
}

/// Throws ItemError with the reason if the file is none.
void check_is_archive(int descriptor) {
  std::array<unsigned char, 8> begin{};
  const ssize_t size = ::pread(descriptor, begin.data(), begin.size(), 0);
  if (size < 0) refuse("cannot be read: " + std::generic_category().message(errno));
  if (size == 0) throw ItemError(FailureReason::empty_file, "the archive is empty");
  const std::string compression = compression_of(std::span(begin).first(std::size_t(size)));
  if (!compression.empty())
    refuse("is compressed with " + compression +
           "; only archives that are not compressed can be read: decompress it first");
}

/// Returns the name without "." and empty components. Sets `is_unsafe` if it is absolute or has
/// "..".
std::string normal_name(std::string_view name, bool& is_unsafe) {
  is_unsafe = name.starts_with('/');
  std::string normal;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    is_unsafe |= part == "..";
    if (!part.empty() && part != ".") {
      if (!normal.empty()) normal += '/';
      normal += part;
    }
    begin = end + 1;
  }
  return normal;
}

std::string problem_of(const Entry& entry, const Member& member, std::int64_t archive_size) {
  if (entry.name.starts_with('/')) return "its name in the archive is an absolute path";
  if (entry.name.size() > kMaxNameBytes)
    return "its name in the archive is longer than " + std::to_string(kMaxNameBytes) + " bytes";
  if (member.is_unsafe) return "its name in the archive has ..";
  if (entry.kind == Entry::Kind::link) return "is a link in the archive, which is not followed";
  if (entry.kind == Entry::Kind::other) return "is a device or FIFO in the archive";
  if (entry.is_sparse) return "is stored as a sparse file in the archive, which is not read";
  if (entry.size < 0 || entry.offset > archive_size || entry.size > archive_size - entry.offset)
    return "is truncated: the archive ends within it";
  return {};
}

/// Returns where the next header is, in bytes of the archive; -1 if that is not known.
std::int64_t end_of(const Entry& entry) {
  const bool has_content = entry.kind == Entry::Kind::file;
  if (entry.is_sparse || (!has_content && entry.size != 0)) return -1;
  const std::int64_t blocks = (entry.size + kBlockBytes - 1) / kBlockBytes;
  return entry.offset + (has_content ? blocks * kBlockBytes : 0);
}

}  // namespace

Archive::Archive(files::FileDescriptor file, const std::stop_token& stop) : file_(std::move(file)) {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0)
    refuse("cannot be read: " + std::generic_category().message(errno));
  check_is_archive(file_.get());
  std::size_t entries = 0;
  std::int64_t end = 0;  // of the last entry
  const auto on_entry = [&](Entry entry) {
    ++entries;
    end = end_of(entry);
    add(std::move(entry), status.st_size);
    return !stop.stop_requested();
  };
  read_entries_function()(file_.get(), on_entry, damage_);
  if (entries == 0 && !damage_.empty()) refuse("is not a tar archive: " + damage_);
  if (damage_.empty() && !stop.stop_requested() && !has_end(end))
    damage_ = "the blocks that end an archive are missing";
  keep_last_of_each_name();
}

/// Whether a block of zeros is at this place, or the place is not known.
bool Archive::has_end(std::int64_t end) const {
  if (end < 0) return true;
  std::array<char, kBlockBytes> block{};
  const ssize_t size = ::pread(file_.get(), block.data(), block.size(), end);
  return size == ssize_t(block.size()) &&
         std::ranges::all_of(block, [](char byte) { return byte == 0; });
}

void Archive::add(Entry entry, std::int64_t archive_size) {
  if (entry.kind == Entry::Kind::folder) return;
  Member member{.offset = entry.offset, .size = entry.size, .mtime_ns = entry.mtime_ns};
  member.name = normal_name(entry.name, member.is_unsafe);
  member.is_unsafe |= entry.name.size() > kMaxNameBytes;
  member.problem = problem_of(entry, member, archive_size);
  if (member.is_unsafe) member.name = std::move(entry.name);
  if (member.is_unsafe) member.name.resize(std::min(member.name.size(), kMaxNameBytes));
  if (!member.name.empty()) members_.push_back(std::move(member));
}

void Archive::keep_last_of_each_name() {
  const auto order_by_name = [this] {
    by_name_.resize(members_.size());
    std::iota(by_name_.begin(), by_name_.end(), std::size_t(0));
    std::ranges::stable_sort(by_name_, {},
                             [this](std::size_t i) { return std::string_view(members_[i].name); });
  };
  order_by_name();
  std::vector<bool> is_replaced(members_.size());
  for (std::size_t i = 0; i + 1 < by_name_.size(); ++i)
    is_replaced[by_name_[i]] = members_[by_name_[i]].name == members_[by_name_[i + 1]].name;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (is_replaced[i]) continue;
    if (kept != i) members_[kept] = std::move(members_[i]);
    ++kept;
  }
  if (kept == members_.size()) return;
  members_.resize(kept);
  order_by_name();
}

const Member* Archive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      by_name_, name, {}, [this](std::size_t i) { return std::string_view(members_[i].name); });
  if (found == by_name_.end() || members_[*found].name != name) return nullptr;
  return &members_[*found];
}

bool is_archive_name(std::string_view name) {
  constexpr std::string_view kExtension = ".tar";
  return name.size() > kExtension.size() &&
         text::to_lower_ascii(std::string(name.substr(name.size() - kExtension.size()))) ==
             kExtension;
}

}  // namespace eckart::tar
