#include "io/process_token.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace eckart::io {
namespace {

TEST(ProcessToken, is_a_large_random_number) {
  const std::string token = process_token();
  EXPECT_EQ(token.size(), 16U);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), token.npos);
  EXPECT_GT(std::stoull(token, nullptr, 16), std::uint64_t(1) << 32)
      << "numbers of processes are smaller, and repeat in containers";
  EXPECT_EQ(process_token(), token);
}

}  // namespace
}  // namespace eckart::io
