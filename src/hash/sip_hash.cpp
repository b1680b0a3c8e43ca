#include "hash/sip_hash.hpp"

#include <bit>
#include <cstddef>
#include <cstring>

namespace eckart::hash {
namespace {

constexpr int kRoundsOfWord = 2, kFinalRounds = 4;

struct State {
  std::uint64_t v0, v1, v2, v3;

  void mix(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      v0 += v1, v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1, v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void add(std::uint64_t word) {
    v3 ^= word;
    mix(kRoundsOfWord);
    v0 ^= word;
  }
};

/// Returns up to 8 bytes as a number, the first in the lowest bits.
std::uint64_t word_of(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  if (!bytes.empty()) std::memcpy(&word, bytes.data(), bytes.size());
  return word;
}

}  // namespace

std::uint64_t sip_hash(const SipKey& key, std::string_view bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  // "somepseudorandomlygeneratedbytes"
  State state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
              key[1] ^ 0x7465646279746573};
  const std::uint64_t size_byte = std::uint64_t(bytes.size()) << 56;
  for (; bytes.size() >= kWord; bytes.remove_prefix(kWord))
    state.add(word_of(bytes.substr(0, kWord)));
  state.add(size_byte | word_of(bytes));
  state.v2 ^= 0xff;
  state.mix(kFinalRounds);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace eckart::hash
