#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "logging/progress.hpp"
#include "settings/settings.hpp"
#include "settings/value_types.hpp"
#include "status_server/status_server.hpp"
#include "text/first_characters.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

constexpr std::int64_t kNever = 1LL << 53;  ///< a time after all samples of the history

struct TopArgs {
  ConfigArgs config;
  std::string address;
  bool once = false, json = false;
};

/// Returns the address, validated like telemetry.listen. Also accepts a URL such as
/// http://127.0.0.1:9464/.
std::string parse_address(const TopArgs& args) {
  settings::Settings settings = read_configuration(args.config).settings;
  std::string address = args.address;
  if (constexpr std::string_view kHttp = "http://"; address.starts_with(kHttp)) {
    address.erase(0, kHttp.size());
    if (address.ends_with('/')) address.pop_back();
  }
  if (!address.empty()) {
    try {
      settings::ListenAddress{}.read(address, settings.telemetry.listen);
    } catch (const std::invalid_argument&) {
      throw FatalError(ExitCode::usage, "the address " + settings::quote(address) +
                                            " is not a loopback address with a port or an "
                                            "absolute path");
    }
  }
  if (settings.telemetry.listen.empty())
    throw FatalError(
        ExitCode::usage,
        "no address: give an address, or --config with a file that sets telemetry.listen");
  return settings.telemetry.listen;
}

/// Truncates the text to the rows and columns of the terminal, so that no line wraps.
std::string cut_to_terminal(const std::string& text) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return text;
  std::istringstream lines(text);
  std::string cut;
  int rows = 1;
  for (std::string line; std::getline(lines, line) && rows < size.ws_row; ++rows)
    cut.append(text::first_characters(line, size.ws_col)) += '\n';
  return cut;
}

/// Returns the status, with control characters escaped: the server may be any program.
std::string fetch_status(const std::string& address) {
  std::istringstream lines(status_server::http_get(address, "/status.txt"));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += text::printable_message(line) + '\n';
  return text;
}

/// Returns the object of the status page on one line, without history.
std::string fetch_json(const std::string& address) {
  const std::string body =
      status_server::http_get(address, "/status.json?since=" + std::to_string(kNever));
  const text::Json json = text::Json::parse(body, nullptr, false);
  if (!json.is_object() || json.value("kind", text::Json()) != "status_page")
    throw FatalError(ExitCode::unavailable,
                     text::printable(address) + " does not answer with the status of eckart");
  return text::dump_json(json) + '\n';
}

/// Prints an object every second, until stdout is closed or the server ends. Reports the end.
ExitCode print_json(const std::string& address, bool once) {
  for (;;) {
    std::printf("%s", fetch_json(address).c_str());
    if (std::fflush(stdout) != 0 || once) return ExitCode::ok;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

/// Shows `text`, and then a new status every second. If the server does not answer, the last status
/// remains.
[[noreturn]] void follow(const std::string& address, std::string text) {
  for (std::string notice;;) {
    std::printf("\033[H\033[J%s", cut_to_terminal(notice + text).c_str());
    std::fflush(stdout);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    try {
      text = fetch_status(address);
      notice.clear();
    } catch (const FatalError& error) {
      notice = std::string(error.what()) + "\nretrying every second; last answer:\n\n";
    }
  }
}

ExitCode top(const TopArgs& args) {
  const std::string address = parse_address(args);
  if (args.json) return print_json(address, args.once);
  const std::string text = fetch_status(address);
  const bool should_follow =
      !args.once && isatty(STDOUT_FILENO) != 0 && logging::stderr_is_terminal();
  if (should_follow) follow(address, text);
  std::printf("%s", text.c_str());
  std::fflush(stdout);
  return ExitCode::ok;
}

}  // namespace

void add_top(CLI::App& app, Action& action) {
  auto args = std::make_shared<TopArgs>();
  CLI::App* command =
      app.add_subcommand("top", "Show the status of a running eckart, updated every second")
          ->group(kMachineCommands);
  command->add_option("ADDRESS", args->address,
                      "Address, such as 127.0.0.1:9464, or path of a socket; without it, "
                      "telemetry.listen of the settings");
  command->add_option("--config", args->config.file, "YAML file with telemetry.listen")
      ->type_name("FILE");
  command->add_flag("--once", args->once,
                    "Print the status once; default if stdout is not a terminal");
  command->add_flag("--json", args->json,
                    "Print a JSON object every second; with --once, one object");
  describe(*command, {.usage = {"[ADDRESS] [OPTIONS]"},
                      .examples = {{"The service of this machine", "eckart top"},
                                   {"A run with --set telemetry.listen=127.0.0.1:9464",
                                    "eckart top 127.0.0.1:9464"},
                                   {"One status, for a script", "eckart top --once --json"}},
                      .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::no_input,
                                     ExitCode::unavailable, ExitCode::configuration}});
  command->callback([args, &action] { action = [args] { return top(*args); }; });
}

}  // namespace eckart::cli
