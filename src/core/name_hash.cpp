#include "core/name_hash.hpp"

#include <sys/random.h>

#include <array>
#include <cstring>
#include <random>
#include <span>

#include "core/sha256.hpp"

namespace eckart {
namespace {

using Key = std::array<std::byte, 32>;

Key random_key() {
  Key key{};
  if (::getrandom(key.data(), key.size(), 0) == ssize_t(key.size())) return key;
  std::random_device device;
  for (std::byte& byte : key) byte = std::byte(device());
  return key;
}

std::uint64_t first_64_bits(Sha256& hash) {
  const Sha256::Digest digest = hash.digest();
  std::uint64_t bits = 0;
  std::memcpy(&bits, digest.data(), sizeof bits);
  return bits;
}

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  static const Key key = random_key();
  Sha256 hash;
  hash.add(key);
  hash.add(std::as_bytes(std::span(name)));
  return first_64_bits(hash);
}

std::string name_digest(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr int kBytes = 8;
  Sha256 hash;
  hash.add(std::as_bytes(std::span(name)));
  const Sha256::Digest digest = hash.digest();
  std::string text;
  for (int i = 0; i < kBytes; ++i) {
    const auto byte = std::to_integer<unsigned>(digest[std::size_t(i)]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace eckart
