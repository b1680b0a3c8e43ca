#include "files/open_pipe.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace eckart::files {

FileDescriptor open_pipe(const std::filesystem::path& pipe) {
  FileDescriptor opened(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened && ::fcntl(opened.get(), F_SETFL, O_WRONLY) != 0) return FileDescriptor();
  return opened;
}

std::string open_error_text(const std::filesystem::path& file, int error) {
  std::error_code none;
  const bool has_no_reader = error == ENXIO && std::filesystem::is_fifo(file, none);
  return has_no_reader ? "no process reads this pipe" : std::strerror(error);
}

}  // namespace eckart::files
