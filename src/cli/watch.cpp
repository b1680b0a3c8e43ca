#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "app/service.hpp"
#include "app/service_manager.hpp"
#include "app/supervisor.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/signal_handler.hpp"
#include "logging/log.hpp"

namespace eckart::cli {
namespace {

struct WatchArgs {
  ConfigArgs config;
  bool check_configuration = false;
  int verbose = 0, quiet = 0;
};

void log_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

settings::Configuration read_checked_configuration(const ConfigArgs& args) {
  settings::Configuration configuration = read_configuration(args);
  log_warnings(app::check_configuration(configuration));
  return configuration;
}

void run_service(const WatchArgs& args, const settings::Configuration& configuration) {
  app::SystemdServiceManager manager;
  app::Supervisor supervisor(
      configuration, {.read_configuration = [&] { return read_checked_configuration(args.config); },
                      .make_service =
                          [](const settings::Configuration& checked, double last_done_unix_s) {
                            return std::make_unique<app::Service>(checked, last_done_unix_s);
                          },
                      .print_status = [](const std::string& lines) { logging::log_always(lines); },
                      .manager = manager});
  const SignalHandler signals({.on_stop = [&](int) { supervisor.stop(); },
                               .on_status_request = [&] { supervisor.request_status(); },
                               .on_reload = [&] { supervisor.reload(); },
                               .shutdown_timeout = [&] { return supervisor.shutdown_timeout(); },
                               .pending_work = [&] { return supervisor.pending_work(); }});
  supervisor.run();
}

ExitCode watch(const WatchArgs& args) {
  raise_descriptor_limit();
  const char* journal_stream = std::getenv("JOURNAL_STREAM");
  logging::start_service_log(args.verbose - args.quiet, journal_stream ? journal_stream : "");
  const settings::Configuration configuration = read_configuration(args.config);
  if (args.config.print) {
    std::fputs(settings::to_yaml(configuration).c_str(), stdout);
    return ExitCode::ok;
  }
  log_warnings(app::check_configuration(configuration));
  if (!args.check_configuration) run_service(args, configuration);
  return ExitCode::ok;
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto args = std::make_shared<WatchArgs>();
  CLI::App* command =
      app.add_subcommand("watch", "Reconstruct every image that arrives in the configured folders");
  add_config_options(*command, args->config);
  command->add_flag("--check", args->check_configuration, "Only check the configuration");
  command->add_flag("-v,--verbose", args->verbose,
                    "Log each finished image; given twice, each batch too");
  command->add_flag("-q,--quiet", args->quiet, "Log only warnings; given twice, only errors");
  command->callback([args, &action] { action = [args] { return watch(*args); }; });
}

}  // namespace eckart::cli
