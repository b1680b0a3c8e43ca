#include "app/pack.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/byte_buffer.hpp"
#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "io/archive_file.hpp"
#include "io/file_comparison.hpp"
#include "io/input_file.hpp"
#include "io/is_within.hpp"
#include "io/open_archive.hpp"
#include "io/read_ahead.hpp"
#include "tar/dali_index.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Returns the paths of the regular files below a folder, relative to it, in order. Counts what is
/// left out.
std::vector<std::string> files_below(const fs::path& folder, std::int64_t& left_out,
                                     const std::stop_token& stop) {
  std::vector<std::string> files;
  std::error_code error;
  const std::size_t prefix = (folder / "").native().size();
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (stop.stop_requested()) return {};
    const bool is_hidden = entry->path().filename().native().starts_with('.');
    const fs::file_type type = entry->symlink_status(error).type();
    if (error) break;
    if (is_hidden && type == fs::file_type::directory) entry.disable_recursion_pending();
    if (is_hidden || (type != fs::file_type::regular && type != fs::file_type::directory)) {
      ++left_out;
    } else if (type == fs::file_type::regular) {
      files.push_back(entry->path().native().substr(prefix));
    }
  }
  if (error)
    throw FatalError(ExitCode::io_error,
                     text::printable(folder.native()) + ": cannot be listed: " + error.message());
  std::ranges::sort(files);
  return files;
}

/// Returns the path of archive number `number`, from 1 on.
fs::path numbered_path(const fs::path& archive, std::int64_t number) {
  fs::path path = archive;
  path.replace_filename(
      fmt::format("{}-{:06}{}", archive.stem().native(), number, archive.extension().native()));
  return path;
}

/// Finds archives with higher numbers, which an earlier call made.
void find_others(const PackRequest& request, PackResult& result) {
  if (request.max_files == 0 && request.max_bytes == 0) return;
  std::error_code none;
  for (std::int64_t number = std::int64_t(result.archives.size()) + 1;; ++number) {
    const fs::path path = numbered_path(request.archive, number);
    if (!fs::exists(path, none)) return;
    result.others.push_back(path);
  }
}

/// Writes files into one archive after the other.
class Packer {
 public:
  Packer(const PackRequest& request, PackResult& result) : request_(request), result_(result) {}

  /// Adds a file; the first of a sample may begin the next archive.
  void add(const std::string& name, const io::ReadAhead::File& file) {
    const std::string_view key = tar::sample_key(name);
    if (archive_ && key != key_ && is_full()) end();
    key_ = key;
    if (file.failure) {
      result_.failed.push_back({request_.folder / name, file.failure->what()});
      return;
    }
    if (!archive_) archive_.emplace(next_path());
    archive_->add(name, file.bytes, file.mtime_ns);
  }

  void end() {
    if (!archive_) return;
    const bool has_index = archive_->publish(request_.overwrite);
    result_.archives.push_back(
        {archive_->path(), archive_->files(), archive_->content_bytes(), has_index});
    archive_.reset();
  }

 private:
  bool is_full() const {
    return (request_.max_files > 0 && archive_->files() >= request_.max_files) ||
           (request_.max_bytes > 0 && archive_->content_bytes() >= request_.max_bytes);
  }

  fs::path next_path() const {
    const bool is_one = request_.max_files == 0 && request_.max_bytes == 0;
    return is_one ? request_.archive
                  : numbered_path(request_.archive, std::int64_t(result_.archives.size()) + 1);
  }

  const PackRequest& request_;
  PackResult& result_;
  std::optional<io::ArchiveFile> archive_;
  std::string key_;  // of the file before
};

/// Calls `write`; an archive that cannot be written ends the command.
template <class Write>
void write_archive(const fs::path& archive, const Write& write) {
  try {
    write();
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create,
                     text::printable(archive.native()) + ": " + error.what());
  }
}

/// Writes members of archives in groups, because a sync takes most of the time.
class Unpacker {
 public:
  Unpacker(fs::path folder, UnpackResult& result) : folder_(std::move(folder)), result_(result) {}

  void add(const fs::path& archive, const tar::Member& member, std::int64_t mtime_ns) {
    const fs::path source = archive / member.name;
    try {
      if (!member.problem.empty()) throw ItemError(FailureReason::unreadable, member.problem);
      if (is_in_state_folder(member.name))
        throw ItemError(FailureReason::unreadable, "is a file of eckart's own");
      io::Publication publication;
      copy(io::InputFile(source), folder_ / member.name, mtime_ns, publication);
      group_.push_back({std::move(publication), source, member.size});
    } catch (const ItemError& error) {
      result_.failed.push_back({source, error.what()});
    }
    if (group_.size() >= kGroupSize) publish();
  }

  void publish() {
    std::vector<io::Publication*> publications;
    for (Pending& pending : group_) publications.push_back(&pending.publication);
    std::vector<bool> has_failed(group_.size());
    io::publish(publications, {.resolve_collision = &Unpacker::resolve_collision},
                [&](std::size_t index, const ItemError& error) {
                  has_failed[index] = true;
                  result_.failed.push_back({group_[index].source, error.what()});
                });
    for (std::size_t i = 0; i < group_.size(); ++i) {
      if (has_failed[i]) continue;
      ++result_.files;
      result_.bytes += group_[i].bytes;
    }
    group_.clear();
  }

 private:
  static bool is_in_state_folder(const fs::path& name) {
    return std::ranges::find(name, fs::path(files::kStateFolder)) != name.end();
  }

  /// In blocks, because the file may be larger than the memory.
  static void copy(const io::InputFile& file, const fs::path& path, std::int64_t mtime_ns,
                   io::Publication& publication) {
    constexpr std::int64_t kBlockBytes = std::int64_t(4) << 20;
    publication.add_empty(path, io::TemporaryName::late);
    ByteBuffer block(std::size_t(std::min(file.size(), kBlockBytes)));
    for (std::int64_t at = 0; at < file.size();) {
      const std::size_t count = file.read_at(at, block);
      if (count == 0) throw ItemError(FailureReason::unreadable, "is truncated");
      publication.append(std::span(block).first(count));
      at += std::int64_t(count);
    }
    publication.set_mtime(mtime_ns);
  }

  struct Pending {
    io::Publication publication;
    fs::path source;
    std::int64_t bytes;
  };
  static constexpr std::size_t kGroupSize = 256;

  static io::CollisionAction resolve_collision(std::size_t, const fs::path& existing,
                                               const fs::path& temporary) {
    if (io::compare_files(existing, temporary) == io::FileComparison::same)
      return io::CollisionAction::keep;
    throw ItemError(
        FailureReason::output_collision,
        text::printable(existing.native()) + " exists with other content and is not replaced");
  }

  const fs::path folder_;
  UnpackResult& result_;
  std::vector<Pending> group_;
};

}  // namespace

PackResult pack(const PackRequest& request,
                const std::function<void(std::int64_t files)>& on_packed,
                const std::stop_token& stop) {
  if (io::is_within(request.archive, request.folder))
    throw FatalError(ExitCode::usage, "the archive " + text::printable(request.archive.native()) +
                                          " would be inside the folder that it is made of");
  PackResult result;
  std::int64_t packed = 0;
  write_archive(request.archive, [&] {
    Packer packer(request, result);
    const std::vector<std::string> names = files_below(request.folder, result.left_out, stop);
    io::ReadAhead files(request.folder, names);
    for (const std::string& name : names) {
      if (stop.stop_requested()) return;
      packer.add(name, files.next());
      on_packed(++packed);
    }
    if (!stop.stop_requested()) packer.end();
  });
  find_others(request, result);
  return result;
}

UnpackResult unpack(const UnpackRequest& request,
                    const std::function<void(std::int64_t files)>& on_unpacked,
                    const std::stop_token& stop) {
  UnpackResult result;
  Unpacker unpacker(request.folder, result);
  std::int64_t unpacked = 0;
  for (const fs::path& path : request.archives) {
    io::ArchivePtr archive;
    try {
      archive = io::open_archive(path, stop);
    } catch (const ItemError& error) {
      result.failed.push_back({path, error.what()});
      continue;
    }
    for (const tar::Member& member : archive->archive.members()) {
      if (stop.stop_requested()) break;
      unpacker.add(path, member, member.mtime_ns);
      on_unpacked(++unpacked);
    }
    if (!archive->archive.damage().empty())
      result.failed.push_back(
          {path, "the archive is damaged or truncated: " + archive->archive.damage()});
  }
  unpacker.publish();
  return result;
}

}  // namespace eckart::app
