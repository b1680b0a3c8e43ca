#include "capacity/plan.hpp"

#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "capacity/parse_quantity.hpp"
#include "capacity/plan_options.hpp"
#include "capacity/reference_machines.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/log_files.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct PlanArgs {
  std::vector<std::filesystem::path> logs;
  std::string target, deadline, images, shift, prices, reference;
  std::vector<int> cores, gpus, fit_cores;
  double watts = 0;  // 0: not given
  bool json = false, html = false;
};

capacity::PlanRequest make_plan_request(const PlanArgs& args) {
  capacity::PlanRequest request{
      .cores = args.cores, .gpus = args.gpus, .fit_cores = args.fit_cores};
  if (!args.shift.empty()) request.shift_s = capacity::parse_shift(args.shift);
  if (!args.prices.empty()) request.prices = capacity::parse_prices(args.prices);
  if (args.watts > 0) request.watts = args.watts;
  if (request.watts && (!request.prices || request.prices->kwh == 0))
    throw std::invalid_argument("--watts needs a price of energy: --price kWh=0.30");
  if (!args.target.empty()) capacity::set_target(request, capacity::parse_rate(args.target));
  if (!args.images.empty()) {
    const capacity::ImageCount images = capacity::parse_count(args.images);
    request.images = images.images;
    request.images_phrase = images.phrase;
    if (!args.deadline.empty())
      capacity::set_target(request, images,
                           capacity::parse_deadline(args.deadline, std::time(nullptr)));
  }
  return request;
}

/// Returns the plans of the logs, with the recorded machine as an option. Without logs, returns the
/// plans of the recorded machine.
std::vector<capacity::Plan> make_plans(const PlanArgs& args, const capacity::PlanRequest& request,
                                       capacity::ThroughputLogReader& reader) {
  std::vector<capacity::Plan> reference_plans, plans;
  if (!args.reference.empty())
    reference_plans = capacity::make_plans(capacity::reference_runs(args.reference), request);
  if (args.logs.empty()) return reference_plans;
  for (const std::filesystem::path& log : log_files(args.logs)) reader.read(log);
  plans = capacity::make_plans(reader.runs(), request);
  for (capacity::Plan& plan : plans) capacity::add_recorded_options(plan, reference_plans);
  return plans;
}

ExitCode plan(const PlanArgs& args) {
  if (args.logs.empty() && args.reference.empty())
    throw std::invalid_argument("no throughput log: name one, or ask with --reference h200");
  capacity::ThroughputLogReader reader;
  const std::vector<capacity::Plan> plans = make_plans(args, make_plan_request(args), reader);
  for (const std::string& warning : reader.warnings()) {
    std::fprintf(stderr, "eckart: %s\n", text::printable_message(warning).c_str());
  }
  if (args.html) {
    std::fputs(capacity::to_html(plans, reader.warnings()).c_str(), stdout);
    return ExitCode::ok;
  }
  if (args.json) {
    for (const capacity::Plan& plan : plans) std::printf("%s\n", capacity::to_json(plan).c_str());
  } else {
    std::fputs(capacity::to_text(plans).c_str(), stdout);
  }
  return ExitCode::ok;
}

void add_questions(CLI::App& command, PlanArgs& args) {
  constexpr const char* kGroup = "Question";
  command
      .add_option("--target", args.target,
                  "Images per s, min, h, day, week, month or year: 50M/month, 250/s")
      ->type_name("RATE")
      ->group(kGroup);
  CLI::Option* images =
      command.add_option("--images", args.images, "Number of images: 500k, 1,700,000")
          ->type_name("NUMBER")
          ->excludes("--target")
          ->group(kGroup);
  command
      .add_option("--deadline", args.deadline,
                  "Duration or last day for these images: 6h, 4w, 2026-12-31")
      ->type_name("TIME")
      ->needs(images)
      ->excludes("--target")
      ->group(kGroup);
  command.add_option("--shift", args.shift, "The machine works only this long each day: 8h")
      ->type_name("TIME")
      ->group(kGroup);
  command
      .add_option("--price", args.prices,
                  "Price of a core-hour, a GPU-hour and a kWh: core=0.04/h,gpu=3.50/h,kWh=0.30")
      ->type_name("PRICES")
      ->group(kGroup);
  command
      .add_option("--watts", args.watts,
                  "Power of this machine, for the price of a kWh; default 10 per core, and per GPU "
                  "as measured or 700")
      ->type_name("WATTS")
      ->check(number_between(1.0, 1e6))
      ->group(kGroup);
}

void add_machines(CLI::App& command, PlanArgs& args) {
  constexpr const char* kGroup = "Machines";
  command
      .add_option("--reference", args.reference,
                  "Use recorded figures of a machine, not measured here: h200")
      ->type_name("NAME")
      ->group(kGroup);
  const auto add_counts = [&](const char* name, std::vector<int>& counts, int max,
                              const char* about) {
    command.add_option(name, counts, about)
        ->type_name("LIST")
        ->delimiter(',')
        ->check(number_between(1, max))
        ->group(kGroup);
  };
  add_counts("--cores", args.cores, capacity::kMaxCores, "Also predict for these numbers of cores");
  add_counts("--gpus", args.gpus, 1024, "Also predict for these numbers of GPUs");
  add_counts("--fit-cores", args.fit_cores, capacity::kMaxCores,
             "Predict from runs on these numbers of cores only, and compare with the others");
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("plan", "Tell whether a machine is fast enough, from its throughput logs")
          ->group(kMachineCommands);
  auto args = std::make_shared<PlanArgs>();
  command->add_option("LOG", args->logs,
                      "Throughput logs, including rotated ones, and output folders of shards");
  add_questions(*command, *args);
  add_machines(*command, *args);
  CLI::Option* json = command->add_flag("--json", args->json, "Print one JSON object per workload");
  command->add_flag("--html", args->html, "Print an HTML report with plots")->excludes(json);
  for (const char* name : {"--json", "--html"}) command->get_option(name)->group("Output");
  describe(*command,
           {.usage = {"LOG... [OPTIONS]", "--reference NAME [OPTIONS]"},
            .examples = {{"What does this machine do, and what limits it?",
                          "eckart plan throughput.jsonl"},
                         {"Is it enough, and what would 16 cores cost?",
                          "eckart plan throughput.jsonl --target 50M/month --cores 16 --price "
                          "core=0.04/h,kWh=0.30"},
                         {"A report for others",
                          "eckart plan throughput.jsonl --target 2M/day --html > plan.html"},
                         {"What did the tasks of a job array do together?", "eckart plan results"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable,
                           ExitCode::no_input, ExitCode::no_permission}});
  command->callback([args, &action] { action = [args] { return plan(*args); }; });
}

}  // namespace eckart::cli
