#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capacity/model.hpp"
#include "cli/arguments.hpp"
#include "cli/bench_experiments.hpp"
#include "cli/commands.hpp"
#include "cli/enum_option.hpp"
#include "cli/help.hpp"

namespace eckart::cli {
namespace {

bool needs_inputs(const std::string& experiment) {
  return experiment == kBenchPipeline || experiment == kBenchScaling;
}

std::vector<std::string> without_inputs() {
  return {kBenchKernels, kBenchMatmul,    kBenchTransfer, kBenchBandwidth, kBenchStreams,
          kBenchSolvers, kBenchCrossover, kBenchRoofline, kBenchAll};
}

std::vector<std::string> all_experiments() {
  std::vector<std::string> all = without_inputs();
  all.insert(all.end(), {kBenchPipeline, kBenchScaling});
  return all;
}

/// The experiments that use an option; empty: all.
std::vector<std::string> users_of(const std::string& option) {
  if (option == "--log" || option == "--max-seconds") return {kBenchScaling};
  if (option == "--quick" || option == "--html") return without_inputs();
  if (option == "--peers")
    return {kBenchKernels, kBenchMatmul, kBenchBandwidth, kBenchSolvers, kBenchRoofline, kBenchAll};
  if (option == "EXPERIMENT" || option == "--json" || option == "--help") return {};
  if (option == "--output") return {kBenchPipeline, kBenchScaling, kBenchAll};
  return {kBenchPipeline, kBenchScaling};
}

/// Says that an input was given to an experiment that uses none.
std::string input_error(const BenchArgs& args) {
  const std::vector<std::string> all = all_experiments();
  const bool is_experiment =
      std::find(all.begin(), all.end(), args.inputs.front().string()) != all.end();
  return is_experiment ? "one experiment at a time, or all of them: eckart bench all"
                       : args.experiment + " takes no INPUT";
}

/// Says that an option was given that the experiment does not use, or that it needs inputs; empty
/// if all is right.
std::string usage_error(const CLI::App& command, const BenchArgs& args) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const std::vector<std::string> users = users_of(name);
    if (option->count() > 0 && !users.empty() &&
        std::find(users.begin(), users.end(), args.experiment) == users.end())
      return name == "INPUT"
                 ? input_error(args)
                 : name + " is only for these experiments: " + CLI::detail::join(users, ", ");
  }
  if (needs_inputs(args.experiment) && args.inputs.empty())
    return args.experiment + " needs INPUT: folders and files";
  return {};
}

ExitCode execute(const BenchArgs& args, const std::string& usage_error) {
  if (!usage_error.empty()) throw FatalError(ExitCode::usage, usage_error);
  if (args.experiment == kBenchScaling) return bench_scaling(args);
  return args.experiment == kBenchPipeline ? bench_pipeline(args) : bench_devices(args);
}

}  // namespace

settings::Settings bench_settings(const BenchArgs& args) {
  settings::Settings settings = read_configuration(args.config).settings;
  apply_rank_option(settings, args.rank);
  return settings;
}

std::vector<std::string> bench_run_options(const BenchArgs& args) {
  std::vector<std::string> options;
  if (!args.config.file.empty())
    options = {"--config", std::filesystem::absolute(args.config.file).string()};
  for (const std::string& set : args.config.assignments)
    options.insert(options.end(), {"--set", set});
  if (args.rank) options.insert(options.end(), {"--rank", *args.rank});
  return options;
}

void print_bench_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

void add_bench(CLI::App& app, Action& action) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* command = app.add_subcommand("bench", "Measure what limits throughput on this machine")
                          ->group(kMachineCommands);
  command->add_option("EXPERIMENT", args->experiment, "What to measure")
      ->required()
      ->check(one_of(all_experiments()));
  command->add_option("INPUT", args->inputs,
                      "Folders and files, processed as often as needed; only pipeline and scaling");
  command
      ->add_option("--cores", args->cores,
                   "Scaling: core counts, separated by commas; without it, 1, 2, 4, ..., all. "
                   "Pipeline: one number; without it, all")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(number_between(1, capacity::kMaxCores))
      ->group("Measurement");
  command
      ->add_option("--seconds", args->seconds,
                   "Pipeline and scaling: seconds for a run on all cores")
      ->type_name("SECONDS")
      ->check(number_between(0.1, 3600.0))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("--repeats", args->repeats,
                   "Pipeline and scaling: minimum number of repeats of each run")
      ->type_name("N")
      ->check(number_between(1, 100))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("--max-seconds", args->max_seconds,
                   "Scaling: repeat until each rate is known within 5 %, at most this long")
      ->type_name("SECONDS")
      ->check(number_between(0.0, 1e6))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_flag("--quick", args->is_quick,
                 "Fewer sizes: about a minute, or some for all; not for pipeline and scaling")
      ->group("Measurement");
  command
      ->add_flag(
          "--peers", args->with_peers,
          "Also measure the libraries that python3 has, such as NumPy, PyTorch and CuPy; only "
          "kernels, matmul, bandwidth, solvers, roofline and all")
      ->group("Measurement");
  command
      ->add_option("-o,--output", args->output,
                   "Scratch folder for outputs, on the disk to measure; without it, the temporary "
                   "folder")
      ->type_name("FOLDER")
      ->group("Output");
  command->add_option("--log", args->log, "Throughput log of scaling to append to, for eckart plan")
      ->type_name("FILE")
      ->default_str("scaling.jsonl")
      ->group("Output");
  CLI::Option* json =
      command
          ->add_flag("--json", args->json,
                     "Print the result as JSON; scaling: the plan, as eckart plan --json does")
          ->group("Output");
  command
      ->add_flag("--html", args->html,
                 "Print the result as a page with plots; not for pipeline and scaling")
      ->excludes(json)
      ->group("Output");
  add_config_options(*command, args->config, false);
  add_rank_option(*command, args->rank)->group("Settings");
  describe(
      *command,
      {.usage = {"scaling INPUT... [OPTIONS]", "pipeline INPUT... [OPTIONS]",
                 "kernels|matmul|transfer|bandwidth|streams [OPTIONS]",
                 "solvers|crossover|roofline|all [OPTIONS]"},
       .examples = {{"How do kernels, cuBLAS and the CPU reconstruct from factors?",
                     "eckart bench kernels --quick"},
                    {"The same, with NumPy, CuPy and others, as far as python3 has them",
                     "eckart bench kernels --quick --peers"},
                    {"All experiments that need no images, as a page",
                     "eckart bench all --html > bench.html"},
                    {"Which stage limits a run, and does the disk?",
                     "eckart bench pipeline photos -o /srv/scratch --rank 50"},
                    {"How does throughput scale with the number of cores?",
                     "eckart bench scaling photos"},
                    {"With the disk that will be used, for at most 4 cores",
                     "eckart bench scaling photos -o /srv/scratch --cores 1,2,4"},
                    {"Then ask what is needed", "eckart plan scaling.jsonl --target 2M/day"}},
       .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable, ExitCode::no_input,
                      ExitCode::unavailable, ExitCode::internal, ExitCode::cannot_create,
                      ExitCode::io_error, ExitCode::no_permission, ExitCode::configuration,
                      ExitCode::hung_up, ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, command, &action] {
    std::sort(args->cores.begin(), args->cores.end());
    action = [args, error = usage_error(*command, *args)] { return execute(*args, error); };
  });
}

}  // namespace eckart::cli
