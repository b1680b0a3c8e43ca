#include "hash/name_hash.hpp"

#include <sys/random.h>

#include <array>
#include <cstring>
#include <random>
#include <span>

#include "hash/hex.hpp"
#include "hash/sha256.hpp"

namespace eckart::hash {
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
  constexpr std::size_t kBytes = 8;
  Sha256 hash;
  hash.add(std::as_bytes(std::span(name)));
  const Sha256::Digest digest = hash.digest();
  return to_hex(std::span<const std::byte>(digest).first(kBytes));
}

}  // namespace eckart::hash
