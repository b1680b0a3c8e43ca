#include "io/sha256.hpp"

#include <sys/types.h>
// After the types that it takes for granted.
#include <sha2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace eckart::io {

std::string sha256_of(const InputFile& file) {
  std::vector<std::byte> buffer(1 << 16);
  SHA2_CTX context;
  ::SHA256Init(&context);
  for (std::int64_t done = 0; done < file.size();) {
    const std::size_t most = std::min(buffer.size(), std::size_t(file.size() - done));
    const std::size_t got = file.read_at(done, std::span(buffer).first(most));
    if (got == 0) throw ItemError(Reason::unreadable, "was truncated while it was read");
    ::SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(buffer.data()), got);
    done += std::int64_t(got);
  }
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  ::SHA256End(&context, digits.data());
  return digits.data();
}

}  // namespace eckart::io
