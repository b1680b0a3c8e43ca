#include "cli/commands.hpp"

#include <stdexcept>
#include <string_view>

#include "settings/value_types.hpp"

namespace eckart::cli {
namespace {

/// By default, a vector option of CLI11 takes all following arguments.
void take_one_argument_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0) continue;
    if (option->get_items_expected_max() > 1)
      option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->allow_extra_args(false);
  }
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Returns null if the argument is not an option, or contains several flags.
const CLI::Option* find_option(const CLI::App& command, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  const bool is_long = name.starts_with("--");
  const bool is_short = name.size() == 2 && name.front() == '-';
  return is_long || is_short ? command.get_option_no_throw(name) : nullptr;
}

/// Whether a list value consists only of delimiters.
bool is_empty_list(const CLI::Option& option, std::string_view value) {
  const char delimiter = option.get_delimiter();
  return delimiter != '\0' && !value.empty() && value.find_first_not_of(delimiter) == value.npos;
}

void check_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    if (command == &app && !argument.starts_with('-')) {
      const auto named = app.get_subcommands(
          [&](const CLI::App* subcommand) { return subcommand->check_name(argument); });
      if (named.empty()) return;
      command = named.front();
      continue;
    }
    const CLI::Option* option = find_option(*command, argument);
    if (!option) continue;
    const std::size_t equals = argument.find('=');
    const bool has_inline_value = equals != argument.npos;
    if (has_inline_value && equals + 1 == argument.size())
      throw CLI::ArgumentMismatch(argument + " has no value");
    if (has_inline_value && !argument.starts_with("--"))  // CLI11 would include the equals sign
      throw CLI::ArgumentMismatch(argument + ": use " + argument.substr(0, equals) + " " +
                                  argument.substr(equals + 1));
    if (!takes_value(*option)) continue;
    if (!has_inline_value && ++i == arguments.size()) return;
    const std::string value = has_inline_value ? argument.substr(equals + 1) : arguments[i];
    if (value.empty()) throw CLI::ArgumentMismatch(option->get_name() + " has no value");
    if (is_empty_list(*option, value))
      throw CLI::ArgumentMismatch(option->get_name() + " has no value: '" + value +
                                  "' is an empty list");
  }
}

}  // namespace

void add_ledger_option(CLI::App& command, settings::FileChoice& ledger) {
  command.add_option_function<std::string>(
      "--ledger",
      [&ledger](const std::string& text) {
        if (text == "none")
          throw CLI::ValidationError("--ledger none", "this command needs a ledger");
        try {
          settings::AutoNoneOrFile{}.read(text, ledger);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError("--ledger", error.what());
        }
      },
      "Ledger file, if not in the output folder");
}

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  check_values(app, arguments);
  app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
}

void add_commands(CLI::App& app, Action& action) {
  add_run(app, action);
  add_watch(app, action);
  add_synth(app, action);
  add_plan(app, action);
  add_doctor(app, action);
  add_status(app, action);
  add_requeue(app, action);
  add_prune(app, action);
  add_ledger(app, action);
  add_top(app, action);
  add_bench(app, action);
  const auto every = [](const CLI::App*) { return true; };
  for (CLI::App* command : app.get_subcommands(every)) take_one_argument_each(*command);
}

}  // namespace eckart::cli
