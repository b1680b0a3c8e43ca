#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {

/// A service on temporary folders: it watches `in` and writes to `out`.
class WatchTest : public CliTest {
 protected:
  void SetUp() override { fs::create_directories(at("in")); }

  /// Writes the configuration: `keys` of the watch and `top` keys, as YAML flow.
  void configure(const std::string& keys = {}, const std::string& top = {}) {
    std::string yaml = "backend: cpu\n" + top + "watches:\n";
    yaml += watch("in", "out", keys);
    write("eckart.yaml", yaml);
  }
  std::string watch(const std::string& input, const std::string& output,
                    const std::string& keys = {}) const {
    return "  - {input: " + at(input).string() + ", output: " + at(output).string() +
           ", settle_ms: 20" + (keys.empty() ? "" : ", " + keys) + "}\n";
  }

  void start(EckartProcess::Options options = {}) {
    options.folder = at(".");
    service_ = std::make_unique<EckartProcess>(
        std::vector<std::string>{"watch", "--config", "eckart.yaml", "-v"}, options);
  }
  void wait_until(const std::function<bool()>& event) {
    ASSERT_TRUE(test::wait_for(event)) << service_->err();
  }
  void wait_for_outputs(std::size_t count, const fs::path& folder = "out") {
    wait_until([&] { return this->count(folder) >= count; });
  }
  /// Counts the files in a folder, without temporary files.
  std::size_t count(const fs::path& folder) const {
    std::size_t found = 0;
    std::error_code error;
    fs::recursive_directory_iterator entry(at(folder), error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      const bool hidden = entry->path().filename().native()[0] == '.';
      if (hidden) entry.disable_recursion_pending();
      found += !hidden && entry->is_regular_file(error);
    }
    return found;
  }
  void wait_for_log(const std::string& text, int times = 1) {
    wait_until([&] { return count_occurrences(service_->err(), text) >= times; });
  }
  ProcessResult stop() {
    service_->signal(SIGTERM);
    return service_->wait();
  }

  std::unique_ptr<EckartProcess> service_;
};

}  // namespace eckart::test
