#include "hash/name_hash.hpp"

#include <cstddef>
#include <random>
#include <span>

#include "hash/sha256.hpp"
#include "hash/sip_hash.hpp"
#include "text/hex.hpp"

namespace eckart::hash {
namespace {

SipKey random_key() {
  SipKey key{};
  std::random_device device;
  for (std::uint64_t& word : key) word = std::uint64_t(device()) << 32 | device();
  return key;
}

}  // namespace

std::uint64_t name_hash(std::string_view name) {
  static const SipKey key = random_key();
  return sip_hash(key, name);
}

std::string name_digest(std::string_view name) {
  constexpr std::size_t kBytes = 8;
  Sha256 hash;
  hash.add(std::as_bytes(std::span(name)));
  const Sha256::Digest digest = hash.digest();
  return text::to_hex(std::span<const std::byte>(digest).first(kBytes));
}

}  // namespace eckart::hash
