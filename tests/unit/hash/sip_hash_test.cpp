#include "hash/sip_hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::hash {
namespace {

/// Key and bytes 0, 1, 2, ..., as in the reference.
std::uint64_t hash_of_first_bytes(int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(char(i));
  return sip_hash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, bytes);
}

/// Appendix A of the paper, and the vectors of the reference implementation.
TEST(SipHash, is_that_of_the_reference) {
  EXPECT_EQ(hash_of_first_bytes(15), 0xa129ca6149be45e5);
  EXPECT_EQ(hash_of_first_bytes(0), 0x726fdb47dd0e0e31);
  EXPECT_EQ(hash_of_first_bytes(1), 0x74f839c593dc67fd);
  EXPECT_EQ(hash_of_first_bytes(8), 0x93f5f5799a932462);
}

TEST(SipHash, differs_by_key_and_by_size) {
  EXPECT_NE(sip_hash({1, 2}, "a.png"), sip_hash({1, 3}, "a.png"));
  EXPECT_NE(sip_hash({1, 2}, "a.png"), sip_hash({2, 2}, "a.png"));
  EXPECT_NE(sip_hash({1, 2}, "a"), sip_hash({1, 2}, std::string("a\0", 2)));
}

}  // namespace
}  // namespace eckart::hash
