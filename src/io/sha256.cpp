#include "io/sha256.hpp"

#include <sys/types.h>
// After the types that it takes for granted.
#include <sha2.h>

#include <array>

namespace eckart::io {

std::string sha256_of(const std::filesystem::path& file) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  return ::SHA256File(file.c_str(), digits.data()) ? digits.data() : std::string();
}

}  // namespace eckart::io
