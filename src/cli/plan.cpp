#include "capacity/plan.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "capacity/parse_quantity.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct PlanArgs {
  std::vector<std::filesystem::path> logs;
  std::string target, deadline, images;
  std::vector<int> cores, gpus, fit_cores;
  bool json = false, html = false;
};

capacity::PlanRequest make_plan_request(const PlanArgs& args) {
  capacity::PlanRequest request{
      .cores = args.cores, .gpus = args.gpus, .fit_cores = args.fit_cores};
  if (!args.target.empty()) request.target_per_s = capacity::parse_rate(args.target);
  if (!args.images.empty()) request.images = capacity::parse_count(args.images);
  if (!args.deadline.empty()) request.deadline_s = capacity::parse_duration(args.deadline);
  return request;
}

ExitCode plan(const PlanArgs& args) {
  const capacity::PlanRequest request = make_plan_request(args);
  capacity::ThroughputLogReader reader;
  for (const std::filesystem::path& log : args.logs) reader.read(log);
  const std::vector<capacity::LoggedRun> runs = reader.runs();
  for (const std::string& warning : reader.warnings()) {
    std::fprintf(stderr, "eckart: %s\n", text::printable_message(warning).c_str());
  }
  const std::vector<capacity::Plan> plans = capacity::make_plans(runs, request);
  if (args.html) {
    std::fputs(capacity::to_html(plans, reader.warnings()).c_str(), stdout);
    return ExitCode::ok;
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (args.json) {
      std::printf("%s\n", capacity::to_json(plans[i]).c_str());
    } else {
      std::printf("%s%s", i > 0 ? "\n\n" : "", capacity::to_text(plans[i]).c_str());
    }
  }
  return ExitCode::ok;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand(
             "plan", "Show what limits a machine, from throughput logs, and predict more hardware")
          ->group(kMachineCommands);
  auto args = std::make_shared<PlanArgs>();
  command->add_option("LOG", args->logs, "Throughput logs, including rotated ones")->required();
  command->add_option("--target", args->target, "Target rate: 2M/day, 30k/h, 250/s")
      ->type_name("RATE")
      ->group("Question");
  CLI::Option* images =
      command->add_option("--images", args->images, "Number of images to process: 500k")
          ->type_name("N")
          ->group("Question");
  command->add_option("--deadline", args->deadline, "Time to process them in: 6h, 90min")
      ->type_name("TIME")
      ->group("Question")
      ->needs(images)
      ->excludes("--target");
  command
      ->add_option("--cores", args->cores,
                   "Also predict for these core counts, separated by commas")
      ->type_name("LIST")
      ->group("Question")
      ->delimiter(',')
      ->check(number_between(1, capacity::kMaxCores));
  command
      ->add_option("--gpus", args->gpus, "Also predict for these GPU counts, separated by commas")
      ->type_name("LIST")
      ->group("Question")
      ->delimiter(',')
      ->check(number_between(1, 1024));
  command
      ->add_option("--fit-cores", args->fit_cores,
                   "Fit only runs on these core counts, and compare with the others")
      ->type_name("LIST")
      ->group("Model")
      ->delimiter(',')
      ->check(number_between(1, capacity::kMaxCores));
  CLI::Option* json = command->add_flag("--json", args->json, "Print one JSON object per workload")
                          ->group("Output");
  command->add_flag("--html", args->html, "Print an HTML report with plots")
      ->group("Output")
      ->excludes(json);
  describe(*command,
           {.usage = {"LOG... [OPTIONS]"},
            .examples = {{"What limits this machine?", "eckart plan throughput.jsonl"},
                         {"Is it enough, and what if it had 16 cores?",
                          "eckart plan throughput.jsonl --target 2M/day --cores 16"},
                         {"A report for others",
                          "eckart plan throughput.jsonl --target 2M/day --html > plan.html"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable,
                           ExitCode::no_input, ExitCode::no_permission}});
  command->callback([args, &action] { action = [args] { return plan(*args); }; });
}

}  // namespace eckart::cli
