#include "simulation/simulate.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "capacity/parse_quantity.hpp"
#include "capacity/throughput_log_reader.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/log_files.hpp"
#include "simulation/measured_node.hpp"
#include "simulation/report.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

constexpr double kDefaultStartupS = 2;
constexpr double kShardVariation = 0.05;
/// eckart ledger merge of eight shards on a local disk: 27,000 outputs/s (2026-11-30).
constexpr double kMergedImagesPerS = 25'000;
constexpr double kMaxImages = 1e15;

struct SimulateArgs {
  std::vector<std::filesystem::path> logs;
  std::vector<int> nodes;
  std::string images, node_rate;
  std::optional<double> input_kb, output_kb, startup_s;
  std::int64_t shard_images = simulation::Batch{}.shard_images;
  bool has_archives = false;
  double read_mb_per_s = 0, write_mb_per_s = 0, files_per_s = 0;  // 0: no limit
  double dispatch_rate = 0;                                       // 0: no limit
  double merge_rate = kMergedImagesPerS;                          // 0: no merge
  double mtbf_h = 0;                                              // 0: no failures
  double slow_share = 0, slow_factor = 2;
  std::uint64_t seed = 1;
  bool json = false;
};

simulation::MeasuredNode read_logs(const std::vector<std::filesystem::path>& logs) {
  if (logs.empty()) return {.startup_s = kDefaultStartupS};
  capacity::ThroughputLogReader reader;
  for (const std::filesystem::path& log : log_files(logs)) reader.read(log);
  const simulation::MeasuredNode node = simulation::measured_node(reader.runs());
  for (const std::string& warning : reader.warnings())
    std::fprintf(stderr, "eckart: %s\n", text::printable_message(warning).c_str());
  return node;
}

std::int64_t image_count(const std::string& text) {
  const double images = std::round(capacity::parse_count(text).images);
  if (images < 1 || images > kMaxImages)
    throw std::invalid_argument("--images " + text + ": accepted: 1 to 1e15");
  return std::int64_t(images);
}

void check_known(double bytes, double storage_rate, const char* storage, const char* option) {
  if (storage_rate > 0 && bytes == 0)
    throw std::invalid_argument(std::string(storage) + " needs the bytes of an image: give " +
                                option);
}

/// The scenario, but for its number of nodes.
simulation::Scenario make_scenario(const SimulateArgs& args) {
  simulation::MeasuredNode node = read_logs(args.logs);
  if (!args.node_rate.empty()) node.images_per_s = capacity::parse_rate(args.node_rate).per_s();
  if (node.images_per_s == 0)
    throw std::invalid_argument("no rate of a node: name a throughput log, or give --node-rate");
  if (args.input_kb) node.input_bytes = 1e3 * *args.input_kb;
  if (args.output_kb) node.output_bytes = 1e3 * *args.output_kb;
  check_known(node.input_bytes, args.read_mb_per_s, "--storage-read", "--input-kb");
  check_known(node.output_bytes, args.write_mb_per_s, "--storage-write", "--output-kb");
  return {.batch = {.images = image_count(args.images),
                    .shard_images = args.shard_images,
                    .input_bytes = node.input_bytes,
                    .output_bytes = node.output_bytes,
                    .has_archives = args.has_archives},
          .node = {.images_per_s = node.images_per_s,
                   .variation = kShardVariation,
                   .startup_s = args.startup_s.value_or(node.startup_s),
                   .slow_share = args.slow_share,
                   .slow_factor = args.slow_factor,
                   .mtbf_s = 3600 * args.mtbf_h},
          .storage = {.read_bytes_per_s = 1e6 * args.read_mb_per_s,
                      .write_bytes_per_s = 1e6 * args.write_mb_per_s,
                      .files_per_s = args.files_per_s},
          .dispatched_shards_per_s = args.dispatch_rate,
          .merged_images_per_s = args.merge_rate,
          .seed = args.seed};
}

ExitCode simulate(const SimulateArgs& args) {
  simulation::Scenario scenario = make_scenario(args);
  std::vector<simulation::Simulated> by_nodes;
  for (const int nodes : std::set<int>(args.nodes.begin(), args.nodes.end())) {
    scenario.nodes = nodes;
    by_nodes.push_back({scenario, simulation::simulate(scenario)});
  }
  if (args.json) {
    for (const simulation::Simulated& simulated : by_nodes)
      std::printf("%s\n", simulation::to_json(simulated).c_str());
  } else {
    std::fputs(simulation::to_text(by_nodes).c_str(), stdout);
  }
  return ExitCode::ok;
}

/// Adds an option for a number.
template <class Number, class Target>
CLI::Option* add_number(CLI::App& command, const char* group, const char* name, Target& target,
                        const char* unit, Number min, Number max, const char* about) {
  return command.add_option(name, target, about)
      ->type_name(unit)
      ->check(number_between(min, max))
      ->group(group);
}

void add_batch_options(CLI::App& command, SimulateArgs& args) {
  constexpr const char* kGroup = "Batch";
  command.add_option("--images", args.images, "Number of images: 500k, 100M")
      ->type_name("NUMBER")
      ->required()
      ->group(kGroup);
  add_number(command, kGroup, "--shard-images", args.shard_images, "N", std::int64_t(1),
             std::int64_t(1'000'000'000), "Images of a shard; default 5000");
  add_number(command, kGroup, "--input-kb", args.input_kb, "KB", 0.0, 1e9,
             "Bytes read for an image, in kB; default as in the logs");
  add_number(command, kGroup, "--output-kb", args.output_kb, "KB", 0.0, 1e9,
             "Bytes written for an image, in kB; default as in the logs");
  command
      .add_flag("--archives", args.has_archives,
                "The inputs and the outputs of each shard are in a tar archive (--pack tar)")
      ->group(kGroup);
}

void add_node_options(CLI::App& command, SimulateArgs& args) {
  constexpr const char* kGroup = "Nodes";
  command.add_option("--nodes", args.nodes, "Numbers of nodes to simulate: 1,10,1000")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(number_between(1, 100'000))
      ->required()
      ->group(kGroup);
  command
      .add_option("--node-rate", args.node_rate,
                  "Images of a node alone per s, min, h or day: 6900/s; default as in the logs")
      ->type_name("RATE")
      ->group(kGroup);
  add_number(command, kGroup, "--startup", args.startup_s, "SECONDS", 0.0, 1e6,
             "Start of the process of each shard; default as in the logs, or 2 without logs");
  add_number(command, kGroup, "--slow-nodes", args.slow_share, "SHARE", 0.0, 1.0,
             "Share of nodes that are slower, from 0 to 1");
  add_number(command, kGroup, "--slow-factor", args.slow_factor, "FACTOR", 1.0, 1e6,
             "How many times as long these take; default 2");
  add_number(command, kGroup, "--mtbf", args.mtbf_h, "HOURS", 0.0, 1e9,
             "Mean time between failures of a node; default: no failures");
}

void add_shared_options(CLI::App& command, SimulateArgs& args) {
  constexpr const char* kGroup = "Shared by all nodes; without limits unless given";
  add_number(command, kGroup, "--storage-read", args.read_mb_per_s, "MB/S", 0.0, 1e12,
             "MB/s that the storage reads");
  add_number(command, kGroup, "--storage-write", args.write_mb_per_s, "MB/S", 0.0, 1e12,
             "MB/s that the storage writes");
  add_number(command, kGroup, "--storage-files", args.files_per_s, "N/S", 0.0, 1e12,
             "Files a second that the storage opens or creates; an image needs two, or a shard "
             "with --archives six");
  add_number(command, kGroup, "--dispatch-rate", args.dispatch_rate, "N/S", 0.0, 1e9,
             "Shards a second that the scheduler gives to nodes");
  add_number(command, kGroup, "--merge-rate", args.merge_rate, "N/S", 0.0, 1e12,
             "Images a second of eckart ledger merge at the end; default 25000; 0: no merge");
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("simulate", "Simulate many nodes that process a batch on shared storage")
          ->group(kMachineCommands);
  auto args = std::make_shared<SimulateArgs>();
  command->add_option("LOG", args->logs, "Throughput logs of a node, and output folders of shards");
  add_batch_options(*command, *args);
  add_node_options(*command, *args);
  add_shared_options(*command, *args);
  add_number(*command, "Output", "--seed", args->seed, "N", std::uint64_t(0), UINT64_MAX,
             "Seed of the random numbers; default 1");
  command->add_flag("--json", args->json, "Print one JSON object per number of nodes")
      ->group("Output");
  describe(*command,
           {.usage = {"LOG... --nodes LIST --images NUMBER [OPTIONS]",
                      "--node-rate RATE --nodes LIST --images NUMBER [OPTIONS]"},
            .examples = {{"What would more nodes do, and what limits them?",
                          "eckart simulate throughput.jsonl --nodes 1,10,100 --images 100M "
                          "--storage-files 50000"},
                         {"What did the tasks of a job array do, and what would more of them do?",
                          "eckart simulate results --nodes 4,8,16 --images 10M"},
                         {"Without a log, with failures and slow nodes",
                          "eckart simulate --node-rate 6900/s --nodes 100 --images 100M --mtbf "
                          "1000 --slow-nodes 0.05"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable,
                           ExitCode::no_input, ExitCode::no_permission}});
  command->callback([args, &action] { action = [args] { return simulate(*args); }; });
}

}  // namespace eckart::cli
