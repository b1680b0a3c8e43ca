#include "io/content_hash.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/error.hpp"
#include "hash/sha256.hpp"
#include "text/hex.hpp"

namespace eckart::io {
namespace {

std::string digest_text(hash::Sha256& hash) {
  const hash::Sha256::Digest digest = hash.digest();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

std::string content_hash(std::span<const std::byte> bytes) {
  hash::Sha256 hash;
  hash.add(bytes);
  return digest_text(hash);
}

std::string content_hash(const InputFile& file) {
  hash::Sha256 hash;
  std::vector<std::byte> buffer(1 << 18);
  for (std::int64_t offset = 0; offset < file.size();) {
    const std::size_t count = std::min(buffer.size(), std::size_t(file.size() - offset));
    const std::size_t bytes_read = file.read_at(offset, std::span(buffer).first(count));
    if (bytes_read == 0)
      throw ItemError(FailureReason::unreadable, "was truncated while being read");
    hash.add(std::span<const std::byte>(buffer).first(bytes_read));
    offset += std::int64_t(bytes_read);
  }
  return digest_text(hash);
}

std::string content_hash_hex(const InputFile& file) { return text::to_hex(content_hash(file)); }

}  // namespace eckart::io
