#include "hash/fnv1a.hpp"

#include <gtest/gtest.h>

namespace eckart::hash {
namespace {

/// From the test vectors of its authors.
TEST(Fnv1aHash, matches_published_vectors) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8);
  EXPECT_EQ(fnv1a("\xff"), 0xaf64724c8602eb6e);
}

}  // namespace
}  // namespace eckart::hash
