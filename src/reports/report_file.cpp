#include "reports/report_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "files/link_chain.hpp"
#include "files/open_pipe.hpp"
#include "files/out_of_space.hpp"
#include "text/printable.hpp"

namespace eckart::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLineBytes = 1
                                      << 20;  // longer than any line: lengths of names are limited

FatalError report_error(ExitCode code, const fs::path& file, const std::string& what) {
  return {code, "report " + text::printable(file.native()) + what};
}

[[noreturn]] void throw_open_error(const fs::path& file, int error) {
  const FatalError failure = report_error(
      ExitCode::cannot_create, file, " cannot be created: " + files::open_error_text(file, error));
  files::throw_if_out_of_space(error, failure.what());
  throw failure;
}

/// Returns null with errno after an error.
std::FILE* to_stream(files::FileDescriptor&& file) { return ::fdopen(file.release(), "w"); }

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether the descriptor is open on the file at `path`.
bool is_open_as(int descriptor, const fs::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         is_same_file(opened, named);
}

/// Whether the path names a device or a descriptor, whose file belongs to the caller. A file in
/// shared memory (/dev/shm) is a regular file.
bool is_device_or_proc_path(const fs::path& file) {
  std::error_code ignored;
  const std::string name = fs::absolute(file, ignored).lexically_normal().native();
  return (name.starts_with("/dev/") && !name.starts_with("/dev/shm/")) ||
         name.starts_with("/proc/");
}

/// The descriptor of stdout or stderr if that writes to `file`; otherwise -1.
int standard_stream_of(const fs::path& file) {
  if (file == "-") return STDOUT_FILENO;
  struct stat named {
  }, opened{};
  if (::stat(file.c_str(), &named) != 0) return -1;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    const int flags = ::fcntl(stream, F_GETFL);
    if (flags != -1 && (flags & O_ACCMODE) != O_RDONLY && ::fstat(stream, &opened) == 0 &&
        is_same_file(named, opened))
      return stream;
  }
  return -1;
}

bool is_direct(const fs::path& file) {
  std::error_code ignored;
  const fs::file_type type = fs::status(file, ignored).type();
  const bool can_be_replaced = type == fs::file_type::regular || type == fs::file_type::not_found;
  return is_device_or_proc_path(file) || standard_stream_of(file) >= 0 || !can_be_replaced;
}

/// Follows links, also to a file that does not exist yet, so that no link is replaced by a file.
fs::path resolve_links(const fs::path& file) {
  const std::vector<fs::path> chain = files::link_chain(file);
  const auto direct = std::ranges::find_if(chain, is_direct);
  return direct == chain.end() ? chain.back() : *direct;
}

fs::path part_path(const fs::path& file) {
  return is_direct(file) ? fs::path() : fs::path(file.native() + ".part");
}

/// Opens a file that is not replaced, such as a device or a pipe.
files::FileDescriptor open_existing(const fs::path& file) {
  std::error_code none;
  if (fs::is_fifo(file, none)) return files::open_pipe(file);
  return files::FileDescriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
}

/// Duplicates the descriptor of a standard stream: a descriptor with its own offset would overwrite
/// what the stream writes.
std::FILE* open_direct(const fs::path& file) {
  const int stream = standard_stream_of(file);
  files::FileDescriptor opened = stream >= 0
                                     ? files::FileDescriptor(::fcntl(stream, F_DUPFD_CLOEXEC, 0))
                                     : open_existing(file);
  if (!opened) throw_open_error(file, errno);
  return to_stream(std::move(opened));
}

/// The beginning of a file, up to and including the first newline.
std::string first_line(int descriptor) {
  std::string text;
  std::array<char, 4096> bytes;
  while (text.size() < kMaxLineBytes) {
    const ssize_t count = ::pread(descriptor, bytes.data(), bytes.size(), off_t(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    const std::string_view read(bytes.data(), std::size_t(count));
    const std::size_t end = read.find('\n');
    text += read.substr(0, end == read.npos ? end : end + 1);
    if (end != read.npos) break;
  }
  return text;
}

/// Throws unless the file is empty or a report: a mistyped name must not cost an image or a list of
/// inputs.
void check_is_report(const fs::path& file, ReportFormat format, int descriptor, bool is_part_file) {
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    if (status.st_size == 0) return;
    const std::string line = first_line(descriptor);
    const bool is_complete = line.ends_with('\n');
    const bool may_be_truncated = is_part_file && !line.empty() && line.size() < kMaxLineBytes;
    if (is_complete ? is_report_line(format, line)
                    : may_be_truncated && is_truncated_report_line(format, line))
      return;
  }
  throw report_error(ExitCode::usage, file,
                     format == ReportFormat::csv
                         ? ": the file exists and is not a CSV report; choose another name"
                         : ": the file exists and is not a report; choose another name");
}

void check_replaceable(const fs::path& file, ReportFormat format) {
  const files::FileDescriptor existing(
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (existing) return check_is_report(file, format, existing.get(), false);
  if (errno != ENOENT)
    throw report_error(ExitCode::cannot_create, file,
                       std::string(" cannot be read: ") + std::strerror(errno));
}

/// Opens FILE.part, locked while it is open, if the file system supports locks.
files::FileDescriptor open_locked(const fs::path& part, const fs::path& file) {
  for (;;) {
    files::FileDescriptor opened(::open(
        part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (!opened) {
      const int error = errno;
      throw_open_error(error == ENOENT ? file : part, error);
    }
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK)
        throw report_error(ExitCode::temporary, file, ": another run is writing this report");
      if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS) throw_open_error(part, errno);
    }
    // If not, the run that held the lock has published the file, or it was removed: try again.
    if (is_open_as(opened.get(), part)) return opened;
  }
}

std::FILE* open_part(const fs::path& part, const fs::path& file, ReportFormat format) {
  check_replaceable(file, format);
  files::FileDescriptor opened = open_locked(part, file);
  check_is_report(part, format, opened.get(), true);
  if (::ftruncate(opened.get(), 0) != 0) throw_open_error(part, errno);
  return to_stream(std::move(opened));
}

}  // namespace

ReportFile::ReportFile(const fs::path& file)
    : format_(report_format_of(file)),
      path_(resolve_links(file)),
      part_(part_path(path_)),
      file_(is_direct() ? open_direct(path_) : open_part(part_, path_, format_)) {
  if (!file_) throw_open_error(path_, errno);
  write(report_header(format_));
}

void ReportFile::write(const std::string& text) {
  if (first_errno_ != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) < text.size() ||
      std::fflush(file_.get()) != 0)
    first_errno_ = errno;
}

void ReportFile::for_each_written_record(const RecordVisitor& visit) { read_records(part_, visit); }

bool ReportFile::has_previous() const {
  std::error_code ignored;
  return fs::exists(path_, ignored);
}

void ReportFile::for_each_previous_record(const RecordVisitor& visit) {
  if (has_previous()) read_records(path_, visit);
}

void ReportFile::read_records(const fs::path& file, const RecordVisitor& visit) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  const bool is_open = stream.is_open();
  ReportReader reader(format_);
  for (std::string line; std::getline(stream, line);) {
    // Only a line of FILE.part may be incomplete. An editor may remove the last newline of FILE.
    if (stream.eof() && file == part_) break;
    if (const auto record = reader.add_line(line)) visit(*record);
  }
  if (first_errno_ == 0 && (!is_open || stream.bad())) first_errno_ = errno != 0 ? errno : EIO;
}

int ReportFile::publish() {
  if (!is_direct() && first_errno_ == 0 && ::fsync(fileno(file_.get())) != 0) first_errno_ = errno;
  if (!is_direct() && first_errno_ == 0) rename_into_place();
  if (std::fclose(file_.release()) != 0 && first_errno_ == 0) first_errno_ = errno;
  return first_errno_;
}

/// Renames while locked. The next run then finds no FILE.part or another one.
void ReportFile::rename_into_place() {
  if (!is_open_as(fileno(file_.get()), part_)) {
    first_errno_ = ENOENT;  // another process has removed or replaced it
    return;
  }
  if (::rename(part_.c_str(), path_.c_str()) != 0) {
    first_errno_ = errno;
    return;
  }
  // Best effort: the file itself is already synced.
  const fs::path parent = path_.has_parent_path() ? path_.parent_path() : ".";
  const files::FileDescriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) static_cast<void>(::fsync(folder.get()));
}

}  // namespace eckart::reports
