#include "broker/credentials.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::broker {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 4096;

[[noreturn]] void fail(ExitCode code, const fs::path& file, const std::string& why) {
  throw FatalError(code, "credentials file " + text::printable(file.native()) + ": " + why);
}

[[noreturn]] void fail_to_read(const fs::path& file) {
  const ExitCode code = errno == EACCES ? ExitCode::no_permission : ExitCode::no_input;
  fail(code, file, std::generic_category().message(errno));
}

/// Does not wait if the file is a pipe.
files::FileDescriptor open_private_file(const fs::path& file) {
  files::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) fail_to_read(file);
  if (!S_ISREG(status.st_mode)) fail(ExitCode::configuration, file, "not a regular file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    fail(ExitCode::no_permission, file,
         "other users may have access; run chmod 600 " + text::shell_word(file.native()));
  return descriptor;
}

std::string read_text(const fs::path& file) {
  const files::FileDescriptor descriptor = open_private_file(file);
  std::array<char, kMaxBytes + 1> buffer;
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t count = ::read(descriptor.get(), buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(file);
    if (count == 0) break;
    size += std::size_t(count);
  }
  if (size > kMaxBytes)
    fail(ExitCode::configuration, file, "has more than " + std::to_string(kMaxBytes) + " bytes");
  return {buffer.data(), size};
}

/// Removes the first line from `text` and returns it without its end.
std::string take_line(std::string& text) {
  const std::size_t end = text.find('\n');
  std::string line = text.substr(0, end);
  text.erase(0, end == text.npos ? end : end + 1);
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

Credentials read_credentials(const fs::path& file) {
  std::string text = read_text(file);
  if (text.find('\0') != text.npos) fail(ExitCode::configuration, file, "has a null byte");
  Credentials credentials;
  credentials.user = take_line(text);
  credentials.password = take_line(text);
  if (credentials.user.empty() || credentials.password.empty() || !text.empty())
    fail(ExitCode::configuration, file, "not two lines: the user and the password");
  return credentials;
}

Credentials choose_credentials(const CredentialSources& sources) {
  if (!sources.file.empty()) return read_credentials(sources.file);
  if (sources.user.has_value() != sources.password.has_value())
    throw FatalError(ExitCode::configuration,
                     "set both ECKART_AMQP_USER and ECKART_AMQP_PASSWORD, or neither");
  if (sources.user) return {*sources.user, *sources.password};
  if (!sources.url.user.empty()) return sources.url;
  return {"guest", "guest"};
}

}  // namespace eckart::broker
