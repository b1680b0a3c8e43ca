#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"

namespace eckart::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
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

using CommandLineHelpTest = CommandLineOptionTest;

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
  EXPECT_EQ(commands().size(), 20u);
  EXPECT_EQ(with_value, 190);
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
  EXPECT_THAT(run.get_option("INPUT")->results(), ElementsAre("scans", "more"));
}

TEST_F(CommandLineOptionTest, may_be_repeated_if_it_fills_a_list) {
  const CLI::App& run =
      parsed("run", {"--set", "rank=5", "a", "--set=output.format=jpeg", "b", "-o", "out"});
  EXPECT_THAT(run.get_option("--set")->results(), ElementsAre("rank=5", "output.format=jpeg"));
  EXPECT_THAT(run.get_option("INPUT")->results(), ElementsAre("a", "b"));
}

TEST_F(CommandLineOptionTest, takes_a_list_with_commas_as_one_argument) {
  const CLI::App& plan = parsed("plan", {"--cores", "2,4", "--gpus", "1", "--cores", "8", "log"});
  EXPECT_THAT(plan.get_option("--cores")->as<std::vector<int>>(), ElementsAre(2, 4, 8));
  EXPECT_THAT(plan.get_option("--gpus")->as<std::vector<int>>(), ElementsAre(1));
  EXPECT_THAT(plan.get_option("LOG")->results(), ElementsAre("log"));
  const CLI::App& bench = parsed("bench", {"scaling", "--cores", "1,2", "in"});
  EXPECT_THAT(bench.get_option("--cores")->as<std::vector<int>>(), ElementsAre(1, 2));
  EXPECT_THAT(bench.get_option("INPUT")->results(), ElementsAre("in"));
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

TEST_F(CommandLineOptionTest, accepts_every_spelling_of_a_short_option_with_a_value) {
  for (const Words& words : {Words{"-k", "20"}, {"-k=20"}, {"-k20"}, {"-vk20"}, {"-vk=20"}}) {
    CLI::App app;
    Action action;
    add_commands(app, action);
    Words arguments = {"run", "in", "-o=out"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    parse(app, arguments);
    const CLI::App& run = *app.get_subcommand("run");
    EXPECT_THAT(run.get_option("--rank")->results(), ElementsAre("20")) << words.front();
    EXPECT_THAT(run.get_option("--output")->results(), ElementsAre("out")) << words.front();
    EXPECT_THAT(run.get_option("INPUT")->results(), ElementsAre("in")) << words.front();
  }
}

TEST_F(CommandLineOptionTest, shows_the_option_that_was_probably_meant) {
  const auto message_of_parsing = [&](const Words& words) -> std::string {
    try {
      parse(app_, words);
    } catch (const CLI::ParseError& error) {
      return message_of(error);
    }
    return "accepted";
  };
  EXPECT_EQ(message_of_parsing({"run", "in", "--ouput", "out"}),
            "unknown option --ouput; did you mean --output?");
  EXPECT_EQ(message_of_parsing({"run", "in", "-rank", "5"}),
            "unknown option -r in -rank; did you mean --rank?");
  EXPECT_EQ(message_of_parsing({"run", "in", "-vx"}), "unknown option -x in -vx");
  EXPECT_EQ(message_of_parsing({"run", "in", "--frobnicate"}), "unknown option --frobnicate");
  EXPECT_EQ(message_of_parsing({"stauts"}), "unknown command 'stauts'; did you mean status?");
  EXPECT_EQ(message_of_parsing({"ledger", "exprot", "out"}),
            "unknown command 'exprot'; did you mean export?");
  EXPECT_EQ(message_of_parsing({"run", "in", "--json=1"}), "--json takes no value");
  EXPECT_EQ(message_of_parsing({"run", "in", "-v=3"}), "-v takes no value");
  EXPECT_EQ(message_of_parsing({"run", "in", "-k", "5", "-k", "7"}),
            "--rank is given more than once");
  EXPECT_EQ(message_of_parsing({"run", "in", ""}), "an argument is empty");
  EXPECT_EQ(message_of_parsing({"RUN"}), "unknown command 'RUN'; did you mean run?");
  EXPECT_EQ(message_of_parsing({"bench", "scaling", "in", "--seconds", "nan"}),
            "--seconds: 'nan' is not a number from 0.1 to 3600");
  EXPECT_EQ(message_of_parsing({"run", "in", "-o"}), "--output has no value");
  EXPECT_EQ(message_of_parsing({"bench"}), "EXPERIMENT is required");
  EXPECT_EQ(message_of_parsing({"plan", "log", "--cores", "0"}),
            "--cores: '0' is not an integer from 1 to 4096");
  EXPECT_EQ(message_of_parsing({"status", "out", "more"}), "unexpected argument: more");
}

TEST_F(CommandLineOptionTest, accepts_options_of_ledger_before_and_after_its_subcommand) {
  const CLI::App* ledger = app_.get_subcommand("ledger");
  parse(app_, {"ledger", "export", "out", "--ledger", "file.db"});
  EXPECT_EQ(ledger->get_subcommand("export")->get_option("--ledger")->count(), 1u);
  parse(app_, {"ledger", "--ledger", "file.db", "--json", "import", "out", "lines"});
  EXPECT_EQ(ledger->get_option("--ledger")->count(), 1u);
  EXPECT_EQ(ledger->get_option("--json")->count(), 1u);
}

TEST_F(CommandLineOptionTest, shows_help_with_help_before_the_command) {
  EXPECT_THROW(parse(app_, {"help", "run"}), CLI::CallForHelp);
  EXPECT_TRUE(app_.get_subcommand("run")->parsed());
  EXPECT_THROW(parse(app_, {"help"}), CLI::CallForHelp);
  EXPECT_THROW(parse(app_, {"help", "help"}), CLI::CallForHelp);
}

/// Returns the examples of a help text: the lines with four spaces that begin with eckart.
std::vector<Words> examples_in(const std::string& help) {
  std::vector<Words> examples;
  std::istringstream lines(help.substr(help.find("\nExamples:")));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find("eckart ");
    if (!line.starts_with("    ") || begin == line.npos) continue;
    std::istringstream words(line.substr(begin + 7, line.find_first_of("|>", begin) - begin - 7));
    examples.emplace_back(std::istream_iterator<std::string>(words),
                          std::istream_iterator<std::string>());
  }
  return examples;
}

TEST_F(CommandLineHelpTest, has_three_examples_that_are_accepted_for_every_command) {
  for (const CLI::App* command : commands()) {
    const std::vector<Words> examples = examples_in(command->help());
    EXPECT_GE(examples.size(), 3u) << command->get_name();
    for (const Words& example : examples) {
      CLI::App app;
      Action action;
      add_commands(app, action);
      EXPECT_NO_THROW(parse(app, example)) << command->get_name() << ": " << example.back();
    }
  }
}

TEST_F(CommandLineHelpTest, names_the_value_of_every_option) {
  for (const CLI::App* command : commands()) {
    for (const std::string type : {" TEXT", " INT ", " INT:", " UINT", " FLOAT", " in ["})
      EXPECT_THAT(command->help(), Not(HasSubstr(type))) << command->get_name();
  }
}

TEST_F(CommandLineHelpTest, has_usage_exit_codes_and_documentation_for_every_command) {
  for (const CLI::App* command : commands()) {
    const std::string help = command->help();
    EXPECT_THAT(help, HasSubstr("\nUsage: eckart " + command->get_name() + " "));
    EXPECT_THAT(help, HasSubstr("\nExit codes:\n  0  "));
    EXPECT_THAT(help, HasSubstr("\nDocumentation: man eckart-" + command->get_name()));
  }
}

TEST_F(CommandLineHelpTest, fits_into_100_columns) {
  for (const CLI::App* command : commands()) {
    std::istringstream lines(command->help());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(CommandLineOptionTest, allows_option_like_values_and_inputs) {
  const CLI::App& run =
      parsed("run", {"--report", "--a=", "-o", "--b=", "--set=rank=", "--", "--json="});
  EXPECT_THAT(run.get_option("--report")->results(), ElementsAre("--a="));
  EXPECT_THAT(run.get_option("--output")->results(), ElementsAre("--b="));
  EXPECT_THAT(run.get_option("--set")->results(), ElementsAre("rank="));
  EXPECT_THAT(run.get_option("INPUT")->results(), ElementsAre("--json="));
}

}  // namespace
}  // namespace eckart::cli
