#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "app/ledger_choice.hpp"
#include "io/read_file.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::app {

/// An output folder out, and inputs in in/ and other/, without a run.
class RecordedOutputsTest : public testing::Test {
 protected:
  std::filesystem::path at(const std::filesystem::path& name) const {
    return folder_.path() / name;
  }
  void write(const std::filesystem::path& name, const std::string& text = "x") const {
    std::filesystem::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << text;
  }
  /// Writes an output of 5 bytes, and its entry.
  ledger::OutputEntry output(const std::string& name, const std::string& root,
                             const std::string& input) const {
    write("out/" + name, "bytes");
    struct stat status {};
    EXPECT_EQ(::stat(at("out/" + name).c_str(), &status), 0);
    const std::string root_path = at(root).native() + "/";
    return {.output = name,
            .input = root_path + input,
            .settings = 1,
            .state = {.size = 1, .mtime_ns = 2, .inode = 3},
            .bytes = 5,
            .root_length = root_path.size(),
            .output_mtime_ns = io::state_of(status).mtime_ns};
  }
  void record(const ledger::LedgerChanges& changes) const {
    ledger::Ledger(ledger_file(at("out"), choice_)).record(changes);
  }

  const test::TempFolder folder_;
  settings::FileChoice choice_;
};

}  // namespace eckart::app
