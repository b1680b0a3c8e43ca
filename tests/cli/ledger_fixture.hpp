#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {

/// Three images and their outputs.
class RunWithLedgerTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
    ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  }

  /// Returns the summary of a run.
  std::string summary(const std::string& input, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", input, "-o", "out", "--json", "-k", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto json = nlohmann::json::parse(run(arguments).out);
    return json.at("done").dump() + " done, " + json.at("skipped").dump() + " skipped, " +
           json.at("failed").dump() + " failed";
  }
  void copy_tree(const std::string& from, const std::string& to, bool with_times) const {
    fs::copy(at(from), at(to), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(at(to))) {
      const auto original = at(from) / entry.path().lexically_relative(at(to));
      if (entry.is_regular_file() && with_times) copy_times(original, entry.path());
    }
  }
  static void copy_times(const fs::path& from, const fs::path& to) {
    struct stat status {};
    ASSERT_EQ(::stat(from.c_str(), &status), 0);
    const timespec times[] = {status.st_atim, status.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, to.c_str(), times, 0), 0);
  }
  void touch(const std::string& name) const {
    const timespec times[] = {{1000000000, 0}, {1000000000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, at(name).c_str(), times, 0), 0);
  }
  /// Runs a shell command in which `eckart` is the program under test.
  ProcessResult run_shell(const std::string& command) {
    EckartProcess::Options shell;
    shell.program = "/bin/sh";
    const fs::path folder = fs::path(ECKART_PROGRAM).parent_path();
    return run({"-c", "PATH=" + folder.string() + ":$PATH; " + command}, shell);
  }
  std::string bytes(const std::string& name) const {
    std::ifstream stream(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
};

}  // namespace eckart::test
