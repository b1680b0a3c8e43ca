#include "cli/commands.hpp"

#include <stdexcept>

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

}  // namespace

void add_ledger_option(CLI::App& command, settings::FileChoice& ledger) {
  command
      .add_option_function<std::string>(
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
          "Ledger file, if not in the output folder")
      ->type_name("FILE");
}

void add_commands(CLI::App& app, Action& action) {
  add_run(app, action);
  add_watch(app, action);
  add_measure(app, action);
  add_inspect(app, action);
  add_shard(app, action);
  add_slurm(app, action);
  add_pack(app, action);
  add_unpack(app, action);
  add_enqueue(app, action);
  add_worker(app, action);
  add_status(app, action);
  add_requeue(app, action);
  add_prune(app, action);
  add_ledger(app, action);
  add_top(app, action);
  add_doctor(app, action);
  add_bench(app, action);
  add_plan(app, action);
  add_simulate(app, action);
  add_synth(app, action);
  const auto every = [](const CLI::App*) { return true; };
  for (CLI::App* command : app.get_subcommands(every)) {
    take_one_argument_each(*command);
    command->get_help_ptr()->description("Print this help and exit");
    for (CLI::App* step : command->get_subcommands(every))
      step->get_help_ptr()->description("Print this help and exit");
  }
}

}  // namespace eckart::cli
