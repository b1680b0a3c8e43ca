#include "cli/help.hpp"

#include <sstream>
#include <string_view>
#include <utility>

namespace eckart::cli {
namespace {

constexpr std::size_t kTextColumn = 28;
constexpr std::size_t kLineLength = 100;

/// Appends `text` to an incomplete line of `out`, wrapped, each line from the text column.
void append_wrapped(std::string& out, const std::string& text) {
  std::istringstream words(text);
  std::size_t column = kTextColumn;
  for (std::string word; words >> word;) {
    if (column > kTextColumn && column + 1 + word.size() > kLineLength) {
      out += "\n" + std::string(kTextColumn, ' ');
      column = kTextColumn;
    } else if (column > kTextColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

void append_row(std::string& out, const std::string& name, const std::string& text) {
  out += name;
  if (name.size() + 2 > kTextColumn) {
    out += "\n" + std::string(kTextColumn, ' ');
  } else {
    out.append(kTextColumn - name.size(), ' ');
  }
  append_wrapped(out, text);
}

/// CLI11 appends the descriptions of validators: "NAME:{png,jpeg}".
std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

/// Returns the allowed values, or an empty text: "png, jpeg".
std::string allowed_values(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(":{"), end = type.find('}', begin);
  if (begin == type.npos || end == type.npos) return {};
  std::string values;
  for (const char c : std::string_view(type).substr(begin + 2, end - begin - 2)) {
    values += c;
    if (c == ',') values += ' ';
  }
  return values;
}

std::string description(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const std::string values = allowed_values(option); !values.empty())
    text += " [values: " + values + "]";
  std::string value = option.get_default_str();
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  if (!value.empty()) text += " [default: " + value + "]";
  return text;
}

bool takes_several(const CLI::Option& option) {
  return option.get_items_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string option_name(const CLI::Option& option) {
  const auto& short_names = option.get_snames();
  std::string name = short_names.empty() ? "      " : "  -" + short_names.front() + ", ";
  name += "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) name += " " + value_name(option);
  return name;
}

void append_arguments(std::string& out, const CLI::App& command) {
  const auto arguments =
      command.get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (arguments.empty()) return;
  out += "\nArguments:\n";
  for (const CLI::Option* argument : arguments)
    append_row(out,
               "  " + argument->get_name(true, false) + (takes_several(*argument) ? "..." : ""),
               description(*argument));
}

void append_options(std::string& out, const CLI::App& command) {
  // The group of --help is the default one, and comes last.
  std::vector<std::string> groups = command.get_groups();
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != "Options"; });
  for (const std::string& group : groups) {
    const auto options = command.get_options([&](const CLI::Option* option) {
      return option->get_group() == group && option->nonpositional();
    });
    if (options.empty()) continue;
    out += "\n" + group + ":\n";
    for (const CLI::Option* option : options)
      append_row(out, option_name(*option), description(*option));
  }
}

void append_commands(std::string& out, const CLI::App& app) {
  std::string group;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group() != group) {
      group = command->get_group();
      out += "\n" + group + ":\n";
    }
    append_row(out, "  " + command->get_name(), command->get_description());
  }
}

void append_examples(std::string& out, const std::vector<Example>& examples) {
  if (examples.empty()) return;
  out += "\nExamples:\n";
  for (const Example& example : examples)
    out += "  " + example.purpose + (example.purpose.ends_with('?') ? "" : ":") + "\n    " +
           example.command + "\n";
}

void append_exit_codes(std::string& out, const std::vector<ExitCode>& codes) {
  if (codes.empty()) return;
  out += "\nExit codes:\n";
  for (const ExitCode code : codes)
    append_row(out, "  " + std::to_string(int(code)), exit_code_text(code));
}

/// Returns "eckart ledger export" for the command of this name.
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? full_name(*parent) + " " + command.get_name() : command.get_name();
}

std::string help_text(const CLI::App& command, const CommandHelp& help) {
  std::string out = command.get_description() + ".\n\n";
  const std::string name = full_name(command);
  for (const std::string& usage : help.usage) {
    out += &usage == &help.usage.front() ? "Usage: " : "       ";
    out.append(name).append(" ").append(usage).append("\n");
  }
  append_arguments(out, command);
  append_commands(out, command);
  append_options(out, command);
  append_examples(out, help.examples);
  append_exit_codes(out, help.exit_codes);
  return out;
}

/// Returns the name of the manual page: "eckart-ledger" for "eckart ledger export".
std::string manual_page(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (!parent) return "eckart";
  return parent->get_parent() ? manual_page(*parent) : "eckart-" + command.get_name();
}

void set_formatter(CLI::App& app, CommandHelp help, std::string ending) {
  app.formatter_fn([help = std::move(help), ending = std::move(ending)](
                       const CLI::App* shown, const std::string&, CLI::AppFormatMode) {
    return help_text(*shown, help) + ending;
  });
}

}  // namespace

void describe(CLI::App& command, CommandHelp help) {
  const std::string page = manual_page(command);
  set_formatter(command, std::move(help),
                "\nDocumentation: man " + page +
                    " and eckart.yaml; /usr/share/doc/eckart, or docs/README.md\n");
}

void describe_program(CLI::App& program) {
  set_formatter(program,
                {.usage = {"COMMAND [OPTIONS]", "help COMMAND"},
                 .examples = {{"Reconstruct the images of a folder at rank 20",
                               "eckart run photos -o out --rank 20"},
                              {"The same, for every image that arrives", "eckart watch in -o out"},
                              {"Check this machine", "eckart doctor"}},
                 .exit_codes = {}},
                "\nDocumentation: man eckart; /usr/share/doc/eckart, or docs/README.md\n");
}

const char* exit_code_text(ExitCode code) {
  switch (code) {
    case ExitCode::ok:
      return "the command succeeded";
    case ExitCode::some_failed:
      return "finished, but some inputs failed";
    case ExitCode::usage:
      return "the command line is wrong";
    case ExitCode::nothing_readable:
      return "the data of the input cannot be used";
    case ExitCode::no_input:
      return "the input does not exist";
    case ExitCode::unavailable:
      return "the requested backend, or the process to connect to, is not available";
    case ExitCode::internal:
      return "a bug: please report it";
    case ExitCode::cannot_create:
      return "an output cannot be created";
    case ExitCode::io_error:
      return "an output cannot be written";
    case ExitCode::temporary:
      return "temporary failure: start the same command again";
    case ExitCode::no_permission:
      return "permission denied";
    case ExitCode::configuration:
      return "the configuration is wrong";
    case ExitCode::hung_up:
      return "ended by SIGHUP";
    case ExitCode::interrupted:
      return "ended by SIGINT";
    case ExitCode::terminated:
      return "ended by SIGTERM";
  }
  return "";
}

}  // namespace eckart::cli
