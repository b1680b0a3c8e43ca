#include "hash/sha256.hpp"

#include <sys/types.h>
// Needs sys/types.h but does not include it.
#include <sha2.h>

#include <cstdint>

namespace eckart::hash {

static_assert(std::tuple_size_v<Sha256::Digest> == SHA256_DIGEST_LENGTH);

struct Sha256::Context {
  SHA2_CTX state;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) { ::SHA256Init(&context_->state); }

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  ::SHA256Update(&context_->state, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                 bytes.size());
}

Sha256::Digest Sha256::digest() {
  Digest digest{};
  ::SHA256Final(reinterpret_cast<std::uint8_t*>(digest.data()), &context_->state);
  return digest;
}

}  // namespace eckart::hash
