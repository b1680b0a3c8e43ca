#include "io/content_hash.hpp"

#include <sys/types.h>
// After the types that it takes for granted.
#include <sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace eckart::io {
namespace {

class Hash {
 public:
  Hash() { ::SHA256Init(&context_); }
  void add(std::span<const std::byte> bytes) {
    ::SHA256Update(&context_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::string value() {
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
    ::SHA256Final(digest.data(), &context_);
    return {digest.begin(), digest.end()};
  }

 private:
  SHA2_CTX context_{};
};

}  // namespace

std::string content_hash(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

std::string content_hash(const InputFile& file) {
  Hash hash;
  std::vector<std::byte> buffer(1 << 18);
  for (std::int64_t done = 0; done < file.size();) {
    const std::size_t wanted = std::min(buffer.size(), std::size_t(file.size() - done));
    const std::size_t got = file.read_at(done, std::span(buffer).first(wanted));
    if (got == 0) throw ItemError(FailureReason::unreadable, "was truncated while it was read");
    hash.add(std::span<const std::byte>(buffer).first(got));
    done += std::int64_t(got);
  }
  return hash.value();
}

std::string content_hash_hex(const InputFile& file) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : content_hash(file)) {
    text += kDigits[std::uint8_t(byte) >> 4];
    text += kDigits[std::uint8_t(byte) & 15];
  }
  return text;
}

}  // namespace eckart::io
