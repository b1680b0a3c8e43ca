#include "hash/name_hash.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hash/sip_hash.hpp"

namespace eckart::hash {
namespace {

TEST(NameHash, is_the_same_for_one_name_and_another_for_others) {
  EXPECT_EQ(name_hash("a.png"), name_hash(std::string("a.png")));
  EXPECT_NE(name_hash("a.png"), name_hash("b.png"));
  EXPECT_NE(name_hash(""), name_hash(std::string_view("", 1)));
}

/// Without a random key, anyone could construct collisions.
TEST(NameHash, has_a_key) { EXPECT_NE(name_hash("a.png"), sip_hash({}, "a.png")); }

/// Names in the quarantine contain the digest, and several processes use them.
TEST(NameDigest, is_the_beginning_of_sha_256) {
  EXPECT_EQ(name_digest(""), "e3b0c44298fc1c14");  // SHA-256 of no bytes
  EXPECT_EQ(name_digest("abc"), "ba7816bf8f01cfea");
}

}  // namespace
}  // namespace eckart::hash
