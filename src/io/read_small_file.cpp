#include "io/read_small_file.hpp"

#include <fcntl.h>

#include <span>
#include <utility>

#include "core/error.hpp"
#include "io/input_file.hpp"

namespace eckart::io {

std::optional<std::string> read_small_file(const std::filesystem::path& path,
                                           std::size_t max_bytes) {
  files::FileDescriptor opened(::open(path.c_str(), InputFile::kOpenFlags | O_NOFOLLOW));
  if (!opened) return std::nullopt;
  try {
    const InputFile file(std::move(opened));
    if (std::size_t(file.size()) > max_bytes) return std::nullopt;
    std::string bytes(std::size_t(file.size()), '\0');
    bytes.resize(file.read_at(0, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  } catch (const ItemError&) {  // a pipe and the like, or a disk error
    return std::nullopt;
  }
}

}  // namespace eckart::io
