#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "io/claimed_file.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/intercepted_calls.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::io {

namespace fs = std::filesystem;

class ClaimedFileTest : public ::testing::Test {
 protected:
  ~ClaimedFileTest() override {
    test::before_rename = {};
    test::on_fsync = {};
    test::on_rename = {};
    test::on_unlink = {};
  }
  fs::path write(const fs::path& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int files() const {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      count += entry.is_regular_file();
    return count;
  }

  /// Returns the file as a watch of the folder finds it.
  RootedFile rooted_file(const fs::path& name,
                         files::LinkPolicy links = files::LinkPolicy::none) const {
    return make_rooted_file(folder_.path(), name, links);
  }
  std::optional<ClaimedFile> claim(const fs::path& name) const {
    return io::claim(rooted_file(name));
  }
  RootDirectoryPtr root(const fs::path& name = {}) const {
    fs::create_directories(folder_.path() / name);
    return RootDirectory::open(folder_.path() / name);
  }
  bool recover(const std::string& name) const {
    return recover_stale_claim(*root()->open_below({}), name);
  }

  const test::TempFolder folder_;
};

}  // namespace eckart::io
