#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace eckart::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class CommandLineOptionTest : public testing::Test {
 protected:
  CommandLineOptionTest() { add_commands(app_, action_); }

  /// Returns the command after parsing these arguments, without executing it.
  const CLI::App& parsed(const std::string& command, Words arguments) {
    arguments.insert(arguments.begin(), command);
    parse(app_, arguments);
    return *app_.get_subcommand(command);
  }
  std::vector<CLI::App*> commands() {
    return app_.get_subcommands([](const CLI::App*) { return true; });
  }

  CLI::App app_{"", "eckart"};
  Action action_;
};

TEST_F(CommandLineOptionTest, takes_at_most_one_argument_in_every_command) {
  int with_value = 0;
  for (const CLI::App* command : commands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) continue;
      const std::string name = command->get_name() + " " + option->get_name();
      EXPECT_LE(option->get_items_expected_max(), 1) << name;
      EXPECT_FALSE(option->get_allow_extra_args()) << name;
      with_value += option->get_items_expected_max() == 1;
    }
  }
  EXPECT_EQ(commands().size(), 11u)
      << "docs/explanation/reliability.md has this figure, and the next";
  EXPECT_EQ(with_value, 46);
}

/// The same test, through the parser.
TEST_F(CommandLineOptionTest, consumes_only_one_argument) {
  for (const CLI::App* command : commands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional() || option->get_items_expected_max() == 0) continue;
      const std::string name = "--" + option->get_lnames().front();
      CLI::App app;
      Action action;
      add_commands(app, action);
      CLI::App& same = *app.get_subcommand(command->get_name());
      same.allow_extras();
      try {
        // The parser reads the arguments from the end.
        app.parse(Words{"more", "1", "1", name, command->get_name()});
      } catch (const CLI::ParseError&) {  // no value for it, or another option is missing
      }
      EXPECT_THAT(same.get_option(name)->results(), ElementsAre("1"))
          << command->get_name() << " " << name;
    }
  }
}

TEST_F(CommandLineOptionTest, does_not_consume_inputs_after_set) {
  const CLI::App& run = parsed("run", {"--set", "rank=5", "scans", "more", "-o", "out"});
  EXPECT_THAT(run.get_option("--set")->results(), ElementsAre("rank=5"));
  EXPECT_THAT(run.get_option("inputs")->results(), ElementsAre("scans", "more"));
}

TEST_F(CommandLineOptionTest, may_be_repeated_if_it_fills_a_list) {
  const CLI::App& run =
      parsed("run", {"--set", "rank=5", "a", "--set=output.format=jpeg", "b", "-o", "out"});
  EXPECT_THAT(run.get_option("--set")->results(), ElementsAre("rank=5", "output.format=jpeg"));
  EXPECT_THAT(run.get_option("inputs")->results(), ElementsAre("a", "b"));
}

TEST_F(CommandLineOptionTest, takes_a_list_with_commas_as_one_argument) {
  const CLI::App& plan = parsed("plan", {"--cores", "2,4", "--gpus", "1", "--cores", "8", "log"});
  EXPECT_THAT(plan.get_option("--cores")->as<std::vector<int>>(), ElementsAre(2, 4, 8));
  EXPECT_THAT(plan.get_option("--gpus")->as<std::vector<int>>(), ElementsAre(1));
  EXPECT_THAT(plan.get_option("log")->results(), ElementsAre("log"));
  const CLI::App& bench = parsed("bench", {"scaling", "--cores", "1,2", "in"});
  EXPECT_THAT(bench.get_option("--cores")->as<std::vector<int>>(), ElementsAre(1, 2));
  EXPECT_THAT(bench.get_option("inputs")->results(), ElementsAre("in"));
}

TEST_F(CommandLineOptionTest, rejects_a_list_with_spaces) {
  EXPECT_THROW(parsed("synth", {"-o", "out", "--size", "8", "16"}), CLI::ExtrasError);
  EXPECT_THROW(parsed("run", {"in", "-o", "out", "-k", "5", "-k", "7"}), CLI::ParseError);
}

/// They also consume no other argument.
TEST_F(CommandLineOptionTest, rejects_an_empty_value) {
  for (const CLI::App* command : commands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) continue;
      for (const std::string& name : option->get_lnames()) {
        CLI::App app;
        Action action;
        add_commands(app, action);
        CLI::App& same = *app.get_subcommand(command->get_name());
        same.allow_extras();
        try {
          parse(app, {command->get_name(), "--" + name + "=", "1"});
          ADD_FAILURE() << command->get_name() << " --" << name;
        } catch (const CLI::ParseError& error) {
          EXPECT_THAT(error.what(), HasSubstr("--" + name + "= has no value"));
        }
        EXPECT_TRUE(same.get_option("--" + name)->empty());
      }
    }
  }
  EXPECT_THROW(parsed("run", {"in", "-o", "out", "--report=", "--overwrite"}), CLI::ParseError);
}

TEST_F(CommandLineOptionTest, rejects_an_empty_list) {
  EXPECT_THROW(parsed("synth", {"-o", "out", "--size=,", "8"}), CLI::ParseError);
  EXPECT_THROW(parsed("plan", {"--cores", ",,", "8", "log"}), CLI::ParseError);
}

TEST_F(CommandLineOptionTest, allows_option_like_values_and_inputs) {
  const CLI::App& run =
      parsed("run", {"--report", "--a=", "-o", "--b=", "--set=rank=", "--", "--json="});
  EXPECT_THAT(run.get_option("--report")->results(), ElementsAre("--a="));
  EXPECT_THAT(run.get_option("--output")->results(), ElementsAre("--b="));
  EXPECT_THAT(run.get_option("--set")->results(), ElementsAre("rank="));
  EXPECT_THAT(run.get_option("inputs")->results(), ElementsAre("--json="));
}

}  // namespace
}  // namespace eckart::cli
