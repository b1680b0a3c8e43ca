#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eckart::cli {

/// The option of a command that takes all arguments after "--", one each.
inline constexpr const char* kPassedOnOption = "--sbatch";

/// Calls app.parse() with these arguments, without the name of the program.
///
/// Accepts more than CLI11: `help COMMAND` is `COMMAND --help`, `-k=20` is `--rank=20`, and, if the
/// command has kPassedOnOption, `-- A B` is `--sbatch=A --sbatch=B`. Throws
/// CLI::ParseError with a message for people: an unknown command or option is named with the one
/// that was probably meant. An empty value such as `--report=` or `--report ''` is refused.
void parse(CLI::App& app, const std::vector<std::string>& arguments);

/// Returns a message about an error of CLI11 in the words of the help.
std::string message_of(const CLI::ParseError& error);

/// A validator that accepts numbers from `min` to `max`; CLI::Range also accepts "nan". Its
/// messages name what is expected.
template <class Number>
CLI::Validator number_between(Number min, Number max) {
  return CLI::Validator(
      [min, max,
       expected = (std::is_integral_v<Number> ? "an integer" : "a number") + std::string(" from ") +
                  CLI::detail::to_string(min) + " to " +
                  CLI::detail::to_string(max)](const std::string& text) -> std::string {
        Number value{};
        const bool is_valid =
            CLI::detail::lexical_cast(text, value) && value >= min && value <= max;
        return is_valid ? "" : "'" + text + "' is not " + expected;
      },
      "");
}

}  // namespace eckart::cli
