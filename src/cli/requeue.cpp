#include "app/requeue.hpp"

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct RequeueArgs {
  std::filesystem::path output;
  std::vector<std::string> names;
};

ExitCode requeue(const RequeueArgs& args) {
  ExitCode code = ExitCode::ok;
  const auto all = app::requeue(args.output, args.names);
  for (const auto& [input, error] : all) {
    if (!error.empty()) code = ExitCode::some_failed;
    std::printf("%s: %s\n", text::printable(input.native()).c_str(),
                error.empty() ? "will be retried"
                              : ("not requeued: " + text::printable_message(error)).c_str());
  }
  if (all.empty())
    std::printf("%s: the quarantine is empty\n", text::printable(args.output.native()).c_str());
  return code;
}

}  // namespace

void add_requeue(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("requeue", "Retry the quarantined inputs of an output folder");
  auto args = std::make_shared<RequeueArgs>();
  command->add_option("output", args->output, "The output folder")->required();
  command->add_option("names", args->names, "Inputs to requeue, by name or path; default all");
  command->callback([args, &action] { action = [args] { return requeue(*args); }; });
}

}  // namespace eckart::cli
