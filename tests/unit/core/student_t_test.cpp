#include "core/student_t.hpp"

#include <gtest/gtest.h>

namespace eckart {
namespace {

TEST(StudentT, is_that_of_the_tables) {
  EXPECT_DOUBLE_EQ(student_t(1), 12.706);
  EXPECT_DOUBLE_EQ(student_t(2), 4.303);
  EXPECT_DOUBLE_EQ(student_t(10), 2.228);
  EXPECT_DOUBLE_EQ(student_t(30), 2.042);
  EXPECT_NEAR(student_t(40), 2.021, 0.002);
  EXPECT_NEAR(student_t(120), 1.980, 0.002);
}

}  // namespace
}  // namespace eckart
