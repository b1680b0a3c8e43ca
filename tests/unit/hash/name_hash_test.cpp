#include "hash/name_hash.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "hash/sha256.hpp"

namespace eckart::hash {
namespace {

TEST(NameHash, is_the_same_for_one_name_and_another_for_others) {
  EXPECT_EQ(name_hash("a.png"), name_hash(std::string("a.png")));
  EXPECT_NE(name_hash("a.png"), name_hash("b.png"));
  EXPECT_NE(name_hash(""), name_hash(std::string_view("", 1)));
}

/// Without a key, anyone could construct collisions.
TEST(NameHash, has_a_key) {
  Sha256 plain;
  const std::string_view name = "a.png";
  plain.add(std::as_bytes(std::span(name)));
  const Sha256::Digest digest = plain.digest();
  std::uint64_t bits = 0;
  std::memcpy(&bits, digest.data(), sizeof bits);
  EXPECT_NE(name_hash(name), bits);
}

/// Names in the quarantine contain the digest, and several processes use them.
TEST(NameDigest, is_the_beginning_of_sha_256) {
  EXPECT_EQ(name_digest(""), "e3b0c44298fc1c14");  // SHA-256 of no bytes
  EXPECT_EQ(name_digest("abc"), "ba7816bf8f01cfea");
}

}  // namespace
}  // namespace eckart::hash
