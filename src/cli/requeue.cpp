#include "app/requeue.hpp"

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct RequeueArgs {
  std::filesystem::path output;
  std::vector<std::string> names;
  bool json = false;
};

void print_json(const std::string& input, const std::string& error) {
  const text::Json json = {{"kind", "requeue"},
                           {"input", input},
                           {"error", error.empty() ? text::Json() : text::Json(error)}};
  std::printf("%s\n", text::dump_json(json).c_str());
}

ExitCode requeue(const RequeueArgs& args) {
  check_exists(args.output);
  ExitCode code = ExitCode::ok;
  const auto all = app::requeue(args.output, args.names);
  for (const auto& [input, error] : all) {
    if (!error.empty()) code = ExitCode::some_failed;
    if (args.json) {
      print_json(input.native(), error);
      continue;
    }
    std::printf("%s: %s\n", text::printable(input.native()).c_str(),
                error.empty() ? "will be retried"
                              : ("not requeued: " + text::printable_message(error)).c_str());
  }
  if (all.empty() && !args.json)
    std::printf("%s: the quarantine is empty\n", text::printable(args.output.native()).c_str());
  return code;
}

}  // namespace

void add_requeue(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("requeue", "Retry the quarantined inputs of an output folder")
          ->group(kOutputCommands);
  auto args = std::make_shared<RequeueArgs>();
  command->add_option("FOLDER", args->output, "Output folder")->required();
  command->add_option("INPUT", args->names, "Inputs to requeue, by name or path; all if none");
  command->add_flag("--json", args->json, "Print a JSON line per input");
  describe(*command,
           {.usage = {"FOLDER [INPUT...] [OPTIONS]"},
            .examples = {{"Retry everything", "eckart requeue out"},
                         {"Retry one file", "eckart requeue out scan-0031.png"},
                         {"Retry one file of a folder", "eckart requeue out day1/scan-0031.png"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::no_input,
                           ExitCode::io_error, ExitCode::no_permission}});
  command->callback([args, &action] { action = [args] { return requeue(*args); }; });
}

}  // namespace eckart::cli
