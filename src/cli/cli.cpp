#include "cli/cli.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "build_id/build_id.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/early_signals.hpp"
#include "cli/help.hpp"
#include "core/rank_spec.hpp"
#include "logging/log.hpp"
#include "settings/settings.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

ExitCode fail(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "eckart: %s\n", text::printable_message(message).c_str());
  return code;
}

ExitCode fail_out_of_memory() {
  return fail(ExitCode::temporary, "out of memory; set a smaller budget_mb");
}

/// Marks the first wrong character below the text. `place`: where the text was given.
ExitCode fail_rank(ExitCode code, const std::string& place, const RankSpecError& error) {
  fail(code, place + ": " + error.reason());
  const std::string before = text::printable_message(error.text().substr(0, error.position()));
  const auto columns = std::ranges::count_if(before, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;  // begins a character of UTF-8
  });
  std::fprintf(stderr, "  %s\n  %*s^\nA rank is one of %s.\n",
               text::printable_message(error.text()).c_str(), int(columns), "",
               std::string(kRankGrammar).c_str());
  return code;
}

ExitCode execute(const Action& action) {
  logging::start_log(-1);  // stdout is for results only
  try {
    return action();
  } catch (const FatalError& error) {
    return fail(error.code(), error.what());
  } catch (const EnvironmentError& error) {
    return fail(ExitCode::io_error, error.what());
  } catch (const settings::RankSettingError& error) {
    return fail_rank(ExitCode::configuration, error.place(), error.error());
  } catch (const settings::SettingsError& error) {
    return fail(ExitCode::configuration, error.what());
  } catch (const RankOptionError& error) {
    return fail_rank(ExitCode::usage, error.flag(), error.error());
  } catch (const std::invalid_argument& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const std::bad_alloc&) {
    return fail_out_of_memory();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) return fail_out_of_memory();
    if (error.code() == std::errc::resource_unavailable_try_again)
      return fail(ExitCode::temporary,
                  "cannot start more threads: the limit of the user (ulimit -u), control group "
                  "(TasksMax) or system is reached");
    return fail(ExitCode::internal, std::string("internal error: ") + error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, std::string("internal error: ") + error.what());
  } catch (...) {
    return fail(ExitCode::internal, "unknown internal error");
  }
}

/// Opens /dev/null for each closed standard stream. Otherwise its descriptor number would be used
/// for the next file opened, perhaps an output. The replacement has the wrong access mode, so that
/// reads and writes still fail.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

/// Returns the signal mode of the command. Does not use CLI11, so that signals take effect
/// immediately.
EarlySignalMode early_signal_mode_of(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "run" || command == "measure") return EarlySignalMode::exit_with_signal_code;
  if (command != "watch" && command != "worker") return EarlySignalMode::default_action;
  const bool is_read_only = std::any_of(argv, argv + argc, [](const char* argument) {
    return std::string_view(argument) == "--check" ||
           std::string_view(argument) == "--print-config";
  });
  return is_read_only ? EarlySignalMode::exit_with_signal_code : EarlySignalMode::exit_successfully;
}

ExitCode parse_and_execute(int argc, char** argv) {
  CLI::App app("Reconstruct images at low rank by truncated SVD, on CPUs and GPUs", "eckart");
  app.set_version_flag("-V,--version",
                       std::string("eckart " ECKART_VERSION " (build ") + build_id() + ")",
                       "Print the version and exit");
  app.get_help_ptr()->description("Print this help and exit");
  app.require_subcommand(1);
  describe_program(app);
  const auto is_named = [&](const CLI::App* command) {
    return argc > 1 && command->check_name(argv[1]);
  };
  app.failure_message([&](const CLI::App* root, const CLI::Error& error) {
    std::string help = root->get_name();
    for (const CLI::App* command : root->get_subcommands(is_named))
      help += " " + command->get_name();
    const std::string message = message_of(dynamic_cast<const CLI::ParseError&>(error));
    return "eckart: " + text::printable_message(message) + "; see " + help + " --help\n";
  });
  Action action;
  add_commands(app, action);
  try {
    parse(app, {argv + std::min(argc, 1), argv + argc});
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCode::ok : ExitCode::usage;
  }
  return execute(action);
}

}  // namespace

int run(int argc, char** argv) {
  set_early_signal_mode(early_signal_mode_of(argc, argv));
  open_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit makes the write fail
  ExitCode code = parse_and_execute(argc, argv);
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
    code = fail(ExitCode::io_error, "cannot write the results to stdout" + reason);
  }
  // If memory or the GPU is lost, the exit handler of a library may hang.
  if (code == ExitCode::temporary) ::_exit(int(code));
  return int(code);
}

}  // namespace eckart::cli
