#include "pipeline/normal_path.hpp"

#include <gtest/gtest.h>

namespace eckart::pipeline {
namespace {

namespace fs = std::filesystem;

TEST(NormalPath, is_that_of_the_standard_library) {
  for (const fs::path folder : {"/home/me", "/", "", "/a/../b", "/a/", "rel"})
    for (const fs::path path :
         {"a.png", "in/a.png", "/x/a.png", "./a.png", "../a.png", "a/../b", "a//b", "a/", ".", "..",
          "", "...", "a/.b", "a/..b", "/", "//a", "/..", "a/.", "in/\xff\n.png"}) {
      EXPECT_EQ(normal_path(path), path.lexically_normal()) << path;
      EXPECT_EQ(normal_path(folder, path), (folder / path).lexically_normal()) << folder << path;
    }
}

TEST(NormalPath, is_relative_to_a_root_as_in_the_standard_library) {
  for (const fs::path root : {"/home/out", "/home/out/", "/", ""})
    for (const std::string path :
         {"/home/out/a.png", "/home/out/deep/a.png", "/home/out", "/home/outer/a.png",
          "/elsewhere/a.png", "/a.png", "/", "rel/a.png"})
      EXPECT_EQ(relative_path(path, root), fs::path(path).lexically_relative(root)) << path << root;
}

}  // namespace
}  // namespace eckart::pipeline
