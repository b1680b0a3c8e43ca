#include "tar/dali_index.hpp"

#include <gtest/gtest.h>

namespace eckart::tar {
namespace {

TEST(DaliIndex, has_a_line_for_each_sample_with_its_files) {
  const Member members[] = {{.name = "d.x/a.b.png", .offset = 512, .size = 10},
                            {.name = "d.x/a.json", .offset = 1536, .size = 2},
                            {.name = "no_extension", .offset = 2560, .size = 3},
                            {.name = "link.png", .problem = "is a link"},
                            {.name = ".hidden", .offset = 3584, .size = 1}};
  EXPECT_EQ(dali_index(members),
            "v1.2 2\n"
            "b.png 512 10 d.x/a.b.png json 1536 2 d.x/a.json\n"
            " 2560 3 no_extension\n");
  EXPECT_EQ(dali_index({}), "v1.2 0\n");
}

TEST(DaliIndex, does_not_exist_if_a_name_has_white_space) {
  const Member members[] = {{.name = "a b.png", .offset = 512, .size = 10}};
  EXPECT_EQ(dali_index(members), std::nullopt);
}

TEST(DaliIndex, groups_files_by_the_name_up_to_the_first_dot) {
  EXPECT_EQ(sample_key("d.x/a.b.png"), "d.x/a");
  EXPECT_EQ(sample_key("a"), "a");
}

}  // namespace
}  // namespace eckart::tar
