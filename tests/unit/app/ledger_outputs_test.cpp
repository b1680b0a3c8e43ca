#include "app/ledger_outputs.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

TEST(ContainedFile, counts_as_missing_behind_a_link_or_outside_the_folder) {
  const test::TempFolder temporary;
  const auto at = [&](const char* name) { return temporary.path() / name; };
  for (const char* name : {"out/real/a.png", "elsewhere/a.png"}) {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << "x";
  }
  fs::create_directory_symlink(at("elsewhere"), at("out/link"));
  const files::FileDescriptor folder = open_folder(at("out"));
  for (const char* path : {"link/a.png", "../elsewhere/a.png"}) {
    const ContainedFile file(folder, path);
    EXPECT_EQ(file.status().type, fs::file_type::not_found) << path;
    EXPECT_FALSE(file.remove()) << path;
  }
  EXPECT_TRUE(fs::exists(at("elsewhere/a.png")));
  EXPECT_TRUE(ContainedFile(folder, "real/a.png").remove());
}

}  // namespace
}  // namespace eckart::app
