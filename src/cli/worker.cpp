#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "app/queue_service.hpp"
#include "cli/amqp_options.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/processing_options.hpp"
#include "cli/run_supervised.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

struct WorkerArgs : ProcessingArgs {
  AmqpArgs amqp;
  fs::path output, state;
  int verbose = 0, quiet = 0;
};

/// The folder for the state of programs: of the service manager, or of the user.
fs::path default_state_folder() {
  if (const char* service = std::getenv("STATE_DIRECTORY")) return service;
  if (const char* user = std::getenv("XDG_STATE_HOME"); user != nullptr && *user == '/')
    return fs::path(user) / "eckart";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".local/state/eckart";
  throw FatalError(ExitCode::usage, "no folder for the ledger: give --state FOLDER");
}

settings::Configuration read_checked_configuration(const WorkerArgs& args) {
  settings::Configuration configuration = read_configuration(args);
  check_residual(args, configuration.settings.output);
  if (configuration.settings.output.pack != settings::OutputPack::none)
    throw FatalError(ExitCode::usage, "output.pack tar is for eckart run --shard");
  if (configuration.settings.durability == settings::Durability::none)
    throw FatalError(ExitCode::usage,
                     "durability none: a worker acknowledges what is durable, and nothing else");
  if (!configuration.settings.output.writes_files())
    throw FatalError(ExitCode::usage, "output.format none: a worker writes files");
  if (!configuration.settings.ledger.is_auto())
    throw FatalError(ExitCode::usage,
                     "ledger.file must be auto: a worker has a ledger of its own below --state");
  return configuration;
}

app::QueueServiceRequest request_of(const WorkerArgs& args, const settings::Settings& settings) {
  return {.settings = settings,
          .connection = connection_options(args.amqp, "worker"),
          .queue = args.amqp.queue,
          .output = fs::absolute(args.output).lexically_normal(),
          .state = args.state.empty() ? default_state_folder() : args.state};
}

void run_service(const WorkerArgs& args, const settings::Configuration& configuration) {
  run_supervised(
      configuration, [&] { return read_checked_configuration(args); },
      [&](const settings::Configuration& checked, double last_done_unix_s) {
        return std::make_unique<app::QueueService>(request_of(args, checked.settings),
                                                   last_done_unix_s);
      });
}

ExitCode worker(const WorkerArgs& args) {
  start_service(args.verbose - args.quiet);
  const settings::Configuration configuration = read_checked_configuration(args);
  if (args.config.print) {
    std::fputs(settings::to_yaml(configuration.settings).c_str(), stdout);
    return ExitCode::ok;
  }
  if (args.amqp.url.empty()) throw FatalError(ExitCode::usage, "no broker: give --amqp URL");
  if (args.output.empty()) throw FatalError(ExitCode::usage, "no output folder: give -o FOLDER");
  run_service(args, configuration);
  return ExitCode::ok;
}

}  // namespace

void add_worker(CLI::App& app, Action& action) {
  auto args = std::make_shared<WorkerArgs>();
  CLI::App* command = app.add_subcommand("worker", "Reconstruct the images of a queue of RabbitMQ")
                          ->group(kManyMachinesCommands);
  add_amqp_options(*command, args->amqp, true);
  add_reconstruction_options(*command, *args);
  command
      ->add_option("-o,--output", args->output,
                   "Output folder, which workers of all machines share; created if missing")
      ->type_name("FOLDER")
      ->group("Output");
  command
      ->add_option("--state", args->state,
                   "Folder on a local disk for the ledger of this worker; default: that of the "
                   "service manager, or ~/.local/state/eckart")
      ->type_name("FOLDER")
      ->group("Output");
  add_format_options(*command, *args);
  add_config_options(*command, args->config);
  add_peak_option(*command, args->peak)->group("Log");
  command
      ->add_flag("-v,--verbose", args->verbose,
                 "Log each finished image; given twice, each batch too")
      ->group("Log");
  command->add_flag("-q,--quiet", args->quiet, "Log only warnings; given twice, only errors")
      ->group("Log");
  describe(*command,
           {.usage = {"--amqp URL -o FOLDER [OPTIONS]"},
            .examples =
                {{"A worker with the settings that eckart enqueue was given",
                  "eckart worker --amqp amqp://broker -o results --rank 20"},
                 {"Over TLS, with user and password from a file, of another queue",
                  "eckart worker --amqp amqps://broker --amqp-credentials amqp.txt --queue scans "
                  "-o results"},
                 {"With the ledger on a fast local disk, and a line for each image",
                  "eckart worker --amqp amqp://broker -o results --state /var/tmp/eckart -v"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::no_input, ExitCode::unavailable,
                           ExitCode::cannot_create, ExitCode::io_error, ExitCode::temporary,
                           ExitCode::no_permission, ExitCode::configuration, ExitCode::interrupted,
                           ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return worker(*args); }; });
}

}  // namespace eckart::cli
