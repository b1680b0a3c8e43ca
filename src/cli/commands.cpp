#include "cli/commands.hpp"

namespace eckart::cli {
namespace {

/// CLI11 lets an option that fills a vector take every argument that follows it.
void take_one_argument_each(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0) continue;
    if (option->get_items_expected_max() > 1)
      option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->allow_extra_args(false);
  }
}

}  // namespace

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
