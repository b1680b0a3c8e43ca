#include "cli/configuration.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/rank_spec.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

class ConfigurationTest : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& yaml) const {
    std::ofstream(folder_.path() / name) << yaml;
    return folder_.path() / name;
  }

  const test::TempFolder folder_;
};

TEST_F(ConfigurationTest, overrides_only_the_keys_of_each_source) {
  const fs::path system = write("system.yaml", "budget_mb: 101\nsolver: gesvd\nrank: 3\n");
  ConfigArgs args;
  args.file = write("mine.yaml", "solver: gram\nrank: 4\n");
  args.assignments = {"rank=5"};
  const settings::Settings settings = read_configuration(args, system).settings;
  EXPECT_EQ(settings.budget_mb, 101);
  EXPECT_EQ(settings.solver, SolverKind::gram);
  EXPECT_EQ(settings.ranks, parse_ranks("5"));
}

TEST_F(ConfigurationTest, reads_the_system_file_alone) {
  const fs::path system = write("system.yaml", "budget_mb: 101\n");
  EXPECT_EQ(read_configuration({}, system).settings.budget_mb, 101);
}

TEST_F(ConfigurationTest, keeps_the_defaults_of_a_command_that_the_system_file_does_not_set) {
  settings::Settings defaults;
  defaults.ranks = parse_ranks("1, 2");
  const fs::path system = write("system.yaml", "budget_mb: 101\n");
  const settings::Settings settings = read_configuration({}, system, defaults).settings;
  EXPECT_EQ(settings.budget_mb, 101);
  EXPECT_EQ(settings.ranks, defaults.ranks);
}

TEST_F(ConfigurationTest, works_without_the_system_file) {
  const settings::Settings settings = read_configuration({}, folder_.path() / "none.yaml").settings;
  EXPECT_EQ(settings.budget_mb, settings::Settings().budget_mb);
}

}  // namespace
}  // namespace eckart::cli
