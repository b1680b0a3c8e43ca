#include "cli/arguments.hpp"

#include <string_view>

#include "text/closest_word.hpp"

namespace eckart::cli {
namespace {

[[noreturn]] void fail(const std::string& message) {
  throw CLI::ExtrasError(message, CLI::ExitCodes::ExtrasError);
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// Whether the option is a flag that stands for a value, and accepts another with "=".
bool has_optional_value(const CLI::Option& option) {
  return !takes_value(option) && !option.get_lnames().empty() &&
         option.get_flag_value(option.get_lnames().front(), "") != "true";
}

/// Whether a list value consists only of delimiters.
bool is_empty_list(const CLI::Option& option, std::string_view value) {
  const char delimiter = option.get_delimiter();
  return delimiter != '\0' && !value.empty() && value.find_first_not_of(delimiter) == value.npos;
}

void check_value(const CLI::Option& option, const std::string& value) {
  if (value.empty()) fail(option.get_name() + " has no value");
  if (is_empty_list(option, value))
    fail(option.get_name() + " has no value: '" + value + "' is an empty list");
}

/// Reads the arguments from left to right, before CLI11 does, and rewrites them.
class ArgumentReader {
 public:
  ArgumentReader(const CLI::App& app, const std::vector<std::string>& arguments)
      : command_(&app), arguments_(arguments) {}

  std::vector<std::string> read() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (argument == "--") {
        read_rest();
        break;
      }
      if (argument.starts_with("--")) {
        read_long_option(argument);
      } else if (argument.size() > 1 && argument.front() == '-') {
        read_short_options(argument);
      } else {
        read_command_or_input(argument);
      }
    }
    return std::move(result_);
  }

 private:
  const CLI::Option* find(const std::string& name) const {
    return command_->get_option_no_throw(name);
  }

  /// What follows "--": inputs, or options of another program, if the command has an option for
  /// them.
  void read_rest() {
    const CLI::Option* const passed_on = find(kPassedOnOption);
    if (!passed_on) result_.emplace_back("--");
    for (; next_ < arguments_.size(); ++next_)
      result_.push_back(passed_on ? kPassedOnOption + ("=" + arguments_[next_])
                                  : arguments_[next_]);
  }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : command_->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
  }

  void read_long_option(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const CLI::Option* option = find(name);
    if (!option) fail("unknown option " + name + text::did_you_mean(name, option_names()));
    if (equals == argument.npos) {
      result_.push_back(argument);
      if (takes_value(*option)) read_next_value(*option);
      return;
    }
    if (equals + 1 == argument.size()) fail(argument + " has no value");
    if (!takes_value(*option) && !has_optional_value(*option)) fail(name + " takes no value");
    check_value(*option, argument.substr(equals + 1));
    result_.push_back(argument);
  }

  /// Reads "-v", "-vq", "-k20" or "-k=20". The option with a value is the last one.
  void read_short_options(const std::string& argument) {
    for (std::size_t i = 1; i < argument.size(); ++i) {
      const std::string name = {'-', argument[i]};
      const CLI::Option* option = find(name);
      if (!option) {
        const std::string place = argument.size() > 2 ? " in " + argument : "";
        fail("unknown option " + name + place + text::did_you_mean("-" + argument, option_names()));
      }
      if (!takes_value(*option)) {
        if (argument.find('=') == i + 1) fail(name + " takes no value");
        result_.push_back(name);
        continue;
      }
      if (i + 1 == argument.size()) {
        result_.push_back(name);
        read_next_value(*option);
        return;
      }
      const std::string value = argument.substr(i + (argument[i + 1] == '=' ? 2 : 1));
      if (value.empty()) fail(argument + " has no value");
      check_value(*option, value);
      result_.push_back("--" + option->get_lnames().front() + "=" + value);
      return;
    }
  }

  void read_next_value(const CLI::Option& option) {
    if (next_ == arguments_.size()) fail(option.get_name() + " has no value");
    check_value(option, arguments_[next_]);
    result_.push_back(arguments_[next_++]);
  }

  void read_command_or_input(const std::string& argument) {
    std::vector<std::string> names;
    for (const CLI::App* command : command_->get_subcommands({})) {
      names.push_back(command->get_name());
      if (command->check_name(argument)) {
        command_ = command;
        result_.push_back(argument);
        return;
      }
    }
    if (!names.empty())
      fail("unknown command '" + argument + "'" + text::did_you_mean(argument, names));
    if (argument.empty()) fail("an argument is empty");  // such as "$FOLDER" if it is not set
    result_.push_back(argument);
  }

  const CLI::App* command_;
  const std::vector<std::string>& arguments_;
  std::size_t next_ = 0;
  std::vector<std::string> result_;
};

/// `help ledger export` is `ledger export --help`, and `help help` is `--help`.
std::vector<std::string> without_help_command(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  while (!arguments.empty() && arguments.front() == "help") arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

/// Removes user and password from URLs.
std::string without_credentials(std::string message) {
  for (std::size_t at = message.find("://"); at != message.npos; at = message.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    const std::size_t host = message.find('@', begin);
    if (host < message.find_first_of(" /", begin)) message.replace(begin, host - begin, "...");
  }
  return message;
}

}  // namespace

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  const std::vector<std::string> typed = without_help_command(arguments);
  const std::vector<std::string> read = ArgumentReader(app, typed).read();
  app.parse(std::vector<std::string>(read.rbegin(), read.rend()));
}

std::string message_of(const CLI::ParseError& error) {
  std::string message = without_credentials(error.what());
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = message.find(from); at != message.npos)
      message.replace(at, from.size(), to);
  };
  if (message == "A subcommand is required") return "no command is given";
  if (const std::size_t at = message.find(": At Most 1 required"); at != message.npos)
    return message.substr(0, at) + " is given more than once";
  // ArgumentReader names unknown options, so that the others are too many arguments.
  replace("The following argument was not expected:", "unexpected argument:");
  replace("The following arguments were not expected:", "unexpected arguments:");
  replace(" excludes ", " cannot be combined with ");
  replace(" requires ", " needs ");
  return message;
}

}  // namespace eckart::cli
