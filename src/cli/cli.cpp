#include "cli/cli.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>

#include "cli/commands.hpp"
#include "settings/settings.hpp"

namespace eckart::cli {
namespace {

ExitCode fail(ExitCode code, const std::string& message) {
  std::fprintf(stderr, "eckart: %s\n", message.c_str());
  return code;
}

ExitCode execute(const Action& action) {
  try {
    return action();
  } catch (const FatalError& error) {
    return fail(error.code(), error.what());
  } catch (const settings::SettingsError& error) {
    return fail(ExitCode::configuration, error.what());
  } catch (const std::invalid_argument& error) {
    return fail(ExitCode::usage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::temporary, "out of memory; a smaller budget_mb takes less");
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, std::string("internal error: ") + error.what());
  } catch (...) {
    return fail(ExitCode::internal, "internal error of an unknown kind");
  }
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Best low-rank reconstructions of images, at the speed of the hardware", "eckart");
  app.set_version_flag("--version", "eckart " ECKART_VERSION);
  app.require_subcommand(1);
  Action action;
  add_run(app, action);
  add_synth(app, action);
  add_doctor(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? int(ExitCode::ok) : int(ExitCode::usage);
  }
  const ExitCode code = execute(action);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    return int(fail(ExitCode::io_error, "cannot write the results to stdout"));
  }
  return int(code);
}

}  // namespace eckart::cli
