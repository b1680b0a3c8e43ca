#pragma once

#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {

/// Three images, and the outputs of an earlier run.
class ResumeTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
    ASSERT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
  }

  struct RunCounts {
    int done, skipped, failed;
    friend bool operator==(const RunCounts&, const RunCounts&) = default;
  };
  RunCounts rerun(const std::vector<std::string>& more = {}, const std::string& rank = "2") {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "--json", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto json = nlohmann::json::parse(run(arguments).out);
    return {json.at("done"), json.at("skipped"), json.at("failed")};
  }
};

}  // namespace eckart::test
