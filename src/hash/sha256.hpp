#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace eckart::hash {

/// SHA-256 (FIPS 180-4) of all bytes added.
class Sha256 {
 public:
  using Digest = std::array<std::byte, 32>;
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::span<const std::byte> bytes);
  /// The digest. Nothing may be added afterwards.
  Digest digest();

 private:
  struct Context;
  const std::unique_ptr<Context> context_;
};

}  // namespace eckart::hash
