#include "io/line_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace eckart::io {
namespace {

constexpr std::size_t kChunkBytes = 1 << 16;
constexpr std::size_t kMaxLineBytes = 1 << 16;  // longer than any path

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw FatalError(ExitCode::no_input,
                   name + ": " + what + ": " + std::generic_category().message(errno));
}

std::string name_of(const std::filesystem::path& file) {
  return file == "-" ? "stdin" : file.string();
}

files::FileDescriptor open_list(const std::filesystem::path& file) {
  files::FileDescriptor descriptor(file == "-"
                                       ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                       : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  struct stat status {};
  const bool is_folder =
      descriptor && ::fstat(descriptor.get(), &status) == 0 && S_ISDIR(status.st_mode);
  if (is_folder) errno = EISDIR;  // found only by the first read otherwise
  if (!descriptor || is_folder) fail(name_of(file), "cannot be opened");
  return descriptor;
}

}  // namespace

LineReader::LineReader(const std::filesystem::path& file, char separator)
    : separator_(separator),
      name_(name_of(file)),
      file_(open_list(file)),
      wake_descriptor_(::eventfd(0, EFD_CLOEXEC)) {
  if (!wake_descriptor_) fail(name_, "cannot wait for more input");
}

std::optional<std::string> LineReader::next(const std::stop_token& stop) {
  std::size_t searched = begin_;
  for (;;) {
    const std::size_t end = text_.find(separator_, searched);
    if (end != text_.npos) {
      std::string line = text_.substr(begin_, end - begin_);
      begin_ = end + 1;
      has_found_separator_ = true;
      return line;
    }
    text_.erase(0, begin_);
    begin_ = 0;
    searched = text_.size();
    if (searched > kMaxLineBytes) {
      check_kind_of_list();
      throw FatalError(ExitCode::usage,
                       name_ + ": a line is too long for a path; give one path per line");
    }
    if (!read_more(stop)) break;
  }
  if (!is_at_end_ || text_.empty()) return std::nullopt;
  check_kind_of_list();
  return std::exchange(text_, {});  // the last line has no separator
}

void LineReader::check_kind_of_list() const {
  if (separator_ != '\0' || has_found_separator_ || text_.find('\n') == text_.npos) return;
  throw FatalError(ExitCode::usage, name_ +
                                        ": contains newlines and no null byte; use --files-from "
                                        "for a list with one path per line");
}

bool LineReader::read_more(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { ::eventfd_write(wake_descriptor_.get(), 1); });
  while (!is_at_end_ && !stop.stop_requested()) {
    pollfd events[] = {{file_.get(), POLLIN, 0}, {wake_descriptor_.get(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0) {
      if (errno == EINTR) continue;
      fail(name_, "cannot wait for more input");
    }
    if (stop.stop_requested()) break;
    const std::size_t before = text_.size();
    text_.resize(before + kChunkBytes);
    const ssize_t got = ::read(file_.get(), text_.data() + before, kChunkBytes);
    const int error = errno;
    text_.resize(before + std::size_t(std::max<ssize_t>(got, 0)));
    if (got > 0 && separator_ != '\0' && text_.find('\0', before) != text_.npos) {
      throw FatalError(ExitCode::usage, name_ +
                                            ": contains a null byte; give one path per line, or "
                                            "use --files-from0 for a list with null bytes");
    }
    if (got > 0) return true;
    if (got == 0) {
      is_at_end_ = true;
    } else if (error != EINTR && error != EAGAIN) {
      errno = error;
      fail(name_, "reading failed");
    }
  }
  return false;
}

}  // namespace eckart::io
