#include "text/path_list.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eckart::text {
namespace {

TEST(PathList, has_up_to_three_paths) {
  const std::vector<std::filesystem::path> paths = {"a", "b c", "d\n", "e", "f"};
  const auto list_of = [&](std::size_t count) { return path_list(std::span(paths).first(count)); };
  EXPECT_EQ(list_of(0), "");
  EXPECT_EQ(list_of(1), "a");
  EXPECT_EQ(list_of(2), "a, b c");
  EXPECT_EQ(list_of(3), "a, b c, d\\n");
  EXPECT_EQ(list_of(5), "a, b c, d\\n and 2 more");
}

}  // namespace
}  // namespace eckart::text
