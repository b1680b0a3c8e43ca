#include "cluster/slurm.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/make_manifest.hpp"
#include "app/shard_files.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/count_progress.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/input_options.hpp"
#include "cli/job_follower.hpp"
#include "cli/processing_options.hpp"
#include "cli/run_shard.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "cluster/slurm_script.hpp"
#include "files/state_folder.hpp"
#include "hash/fnv1a.hpp"
#include "io/input_guard.hpp"
#include "io/publication.hpp"
#include "io/scratch_folder.hpp"
#include "logging/log.hpp"
#include "logging/progress.hpp"
#include "text/format_count.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDefaultImages = 5000;
constexpr std::int64_t kDefaultMaxTasks = 1000;  // of Slurm

struct SlurmArgs : ProcessingArgs, InputArgs {
  fs::path output;
  std::int64_t tasks = 0, images = 0, max_running = 0;
  int gpus_per_task = 0;
  std::vector<std::string> sbatch;
  bool reprocess = false, wait = false, print_script = false, json = false;
};

/// The files of a job in the output folder, and what it processes.
struct SlurmJob {
  fs::path folder, script;
  std::string script_text;
  cluster::SlurmArray array;
  io::Manifest manifest;
  bool has_unlisted_inputs = false;
};

settings::Settings read_settings(const SlurmArgs& args) {
  settings::Settings settings = read_configuration(args).settings;
  check_residual(args, settings.output);
  if (!settings.output.writes_files())
    throw FatalError(ExitCode::usage, "output.format none: a job array writes files");
  if (!settings.ledger.is_auto())
    throw FatalError(ExitCode::usage,
                     "ledger.file must be auto: each task has a ledger of its own");
  // A task that gets a GPU must not compute on the CPU because the GPU cannot be used.
  if (args.gpus_per_task > 0 && settings.backend == settings::BackendChoice::automatic)
    settings.backend = settings::BackendChoice::cuda;
  if (!settings.calibration.is_auto() && !settings.calibration.is_none())
    settings.calibration = settings::FileChoice::at(fs::absolute(settings.calibration.file));
  return settings;
}

/// --print-script needs no Slurm.
std::int64_t max_tasks(const SlurmArgs& args) {
  try {
    return cluster::max_slurm_tasks();
  } catch (const FatalError&) {
    if (!args.print_script) throw;
    return kDefaultMaxTasks;
  }
}

app::ListedInputs list_inputs(const SlurmArgs& args, const fs::path& manifest) {
  const std::int64_t limit = max_tasks(args);
  if (args.tasks > limit)
    throw FatalError(ExitCode::usage, "--tasks " + std::to_string(args.tasks) +
                                          ": Slurm allows at most " + std::to_string(limit) +
                                          " here (MaxArraySize)");
  const std::int64_t images = args.images > 0 ? args.images : kDefaultImages;
  const app::ManifestRequest request{
      .sources = {.inputs = args.inputs,
                  .files_from = args.list(),
                  .files_from_separator = args.separator()},
      .plan = {.count = args.tasks, .max_images = args.tasks > 0 ? 0 : images, .max_count = limit},
      .manifest = manifest};
  CountProgress progress("image", "listed");
  return app::make_manifest(request, [&](std::int64_t count) { progress.show(count); });
}

void write_file(const fs::path& file, const std::string& text) {
  try {
    io::publish_file(file, std::as_bytes(std::span(text)));
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(file.native()) + ": " + error.what());
  }
}

/// The same for the same images and output folder, in any order of submissions.
std::string job_name(const fs::path& output, const std::string& manifest) {
  return fmt::format("eckart-{:016x}", hash::fnv1a(output.native() + '\0' + manifest));
}

/// Throws FatalError(temporary) if a job for the same images and output folder has tasks: it reads
/// the files of the job when they start.
void check_not_submitted(const SlurmJob& job, bool needs_slurm) {
  std::string number;
  try {
    number = cluster::find_slurm_job(job.array.name);
  } catch (const FatalError&) {
    if (needs_slurm) throw;
  }
  if (number.empty()) return;
  const cluster::SlurmTasks tasks = cluster::slurm_tasks(number);
  throw FatalError(ExitCode::temporary,
                   "job " + text::printable(number) + " already processes these images to " +
                       text::printable(job.array.output.native()) + ": " +
                       text::format_count(tasks.running, "task") + " running, " +
                       text::group_digits(tasks.pending) + " pending; to end it: scancel " +
                       text::printable(number));
}

/// The tasks do not know the outputs of other shards.
void warn_of_unmerged_shards(const fs::path& output, const std::string& manifest) {
  const auto is_other = [&](const fs::path& ledger) {
    return std::ranges::find(ledger, fs::path(manifest)) == ledger.end();
  };
  if (std::ranges::any_of(app::shard_ledgers(output), is_other))
    spdlog::warn(
        "{} has results of other shards. The tasks compute these images again, and an image fails "
        "if its result differs. To avoid that, run this before: eckart ledger merge {}",
        text::printable(output.native()), text::shell_word(output.native()));
}

/// Writes the manifest, the settings and the script to OUT/.eckart/shards/ID.
SlurmJob prepare(const SlurmArgs& args, const settings::Settings& settings) {
  const fs::path output = fs::absolute(args.output).lexically_normal();
  const io::InputGuard checked(args.inputs, output);
  check_shard_mismatch(output, settings, args.reprocess);
  const io::ScratchFolder scratch(output / files::kStateFolder, "eckart-slurm");
  const fs::path listed_file = scratch.path() / "inputs.manifest";
  app::ListedInputs listed = list_inputs(args, listed_file);
  for (const auto& [path, why] : listed.failed)
    spdlog::error("{}: {}; no task processes it", text::printable(path.native()), why);
  SlurmJob job;
  warn_of_unmerged_shards(output, listed.manifest.id);
  job.folder = app::shards_folder(output) / listed.manifest.id;
  job.script = job.folder / "job.sh";
  job.has_unlisted_inputs = !listed.failed.empty();
  job.array = {.program = fs::read_symlink("/proc/self/exe"),
               .manifest = job.folder / "inputs.manifest",
               .settings = job.folder / "settings.yaml",
               .output = output,
               .logs = job.folder / "logs",
               .name = job_name(output, listed.manifest.id),
               .tasks = std::int64_t(listed.manifest.shards.size()),
               .max_running = args.max_running,
               .gpus_per_task = args.gpus_per_task,
               .run_options = {"--quiet"},
               .sbatch_options = args.sbatch};
  if (args.reprocess) job.array.run_options.emplace_back("--reprocess");
  job.script_text = cluster::slurm_script(job.array);
  check_not_submitted(job, !args.print_script);
  std::error_code error;
  fs::create_directories(job.array.logs, error);
  if (!error) fs::rename(listed_file, job.array.manifest, error);
  if (error)
    throw FatalError(ExitCode::cannot_create,
                     text::printable(job.folder.native()) + ": " + error.message());
  app::publish_manifest(output, listed.manifest);
  write_file(job.array.settings, settings::to_yaml(settings));
  write_file(job.script, job.script_text);
  job.manifest = std::move(listed.manifest);
  return job;
}

/// The first of them: "3, 7 and 12 more".
std::string list_text(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kShown = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(numbers.size(), kShown); ++i)
    list += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  if (numbers.size() > kShown)
    list += " and " + text::group_digits(std::int64_t(numbers.size() - kShown)) + " more";
  return list;
}

ExitCode wait_for(const SlurmJob& job, const std::string& number, bool shows_progress) {
  JobFollower follower(job.array.output, job.manifest, number);
  std::stop_source stop;
  const SignalHandler signals({.on_stop = [&](int) { stop.request_stop(); },
                               .on_status_request = [] {},
                               .shutdown_timeout = [] { return std::chrono::seconds(60); },
                               .pending_work = [] { return std::string("squeue"); }});
  bool has_ended = false;
  {
    std::optional<logging::ProgressBar> bar;
    if (shows_progress) bar.emplace([&] { return follower.state(); });
    has_ended = follower.follow(stop.get_token());
  }
  if (!has_ended) {
    std::fprintf(stderr, "job %s goes on; to end it: scancel %s\n", number.c_str(), number.c_str());
    return exit_code_of(signals.received());
  }
  const app::ShardProgress& progress = follower.progress();
  std::fprintf(stderr, "job %s has ended: %s done, %s failed\n", number.c_str(),
               text::format_count(progress.done(), "image").c_str(),
               text::group_digits(progress.failed()).c_str());
  const std::vector<std::int64_t> unfinished = progress.unfinished();
  if (!unfinished.empty())
    throw FatalError(
        ExitCode::temporary,
        "not finished: " + text::format_count(std::int64_t(unfinished.size()), "task") + " (" +
            list_text(unfinished) +
            "); why: " + text::printable((job.array.logs / (number + "_TASK.log")).native()) +
            "; to go on: sbatch " + text::shell_word(job.script.native()));
  return progress.failed() > 0 || job.has_unlisted_inputs ? ExitCode::some_failed : ExitCode::ok;
}

void print(const SlurmJob& job, const std::string& number, const SlurmArgs& args) {
  if (args.json) {
    const text::Json json = {{"kind", "slurm"},
                             {"job", number},
                             {"tasks", job.array.tasks},
                             {"images", job.manifest.images()},
                             {"manifest", job.array.manifest.native()},
                             {"script", job.script.native()},
                             {"logs", job.array.logs.native()}};
    std::printf("%s\n", text::dump_json(json).c_str());
  } else {
    std::printf("%s\n", number.c_str());
    std::fprintf(stderr, "job %s: %s for %s; script: %s\n", number.c_str(),
                 text::format_count(job.array.tasks, "task").c_str(),
                 text::format_count(job.manifest.images(), "image").c_str(),
                 text::printable(job.script.native()).c_str());
  }
  std::fflush(stdout);
}

ExitCode slurm(const SlurmArgs& args) {
  logging::start_log(0);
  const settings::Settings settings = read_settings(args);
  if (args.inputs.empty() && args.list().empty())
    throw FatalError(ExitCode::usage, "no input: give folders, files or --files-from");
  for (const fs::path& input : args.inputs) check_exists(input);
  const SlurmJob job = prepare(args, settings);
  if (args.print_script) {
    std::fputs(job.script_text.c_str(), stdout);
    return job.has_unlisted_inputs ? ExitCode::some_failed : ExitCode::ok;
  }
  app::forget_finished_shards(job.array.output, job.manifest.id);
  const std::string number = cluster::submit_to_slurm(job.script);
  print(job, number, args);
  if (args.wait) return wait_for(job, number, logging::stderr_is_terminal());
  return job.has_unlisted_inputs ? ExitCode::some_failed : ExitCode::ok;
}

void add_slurm_options(CLI::App& command, SlurmArgs& args) {
  const char* const group = "Slurm";
  constexpr std::int64_t kMax = 1'000'000'000;
  CLI::Option* tasks = command
                           .add_option("--tasks", args.tasks,
                                       "Tasks of the job array, each for a part of the inputs of "
                                       "about the same number of bytes")
                           ->type_name("N")
                           ->check(number_between(std::int64_t(1), kMax))
                           ->group(group);
  command
      .add_option("--images", args.images,
                  "Images of a task, at most, unless Slurm allows too few tasks; default 5000")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMax))
      ->group(group)
      ->excludes(tasks);
  command.add_option("--max-running", args.max_running, "Tasks that run at the same time, at most")
      ->type_name("N")
      ->check(number_between(std::int64_t(1), kMax))
      ->group(group);
  command
      .add_option("--gpus-per-task", args.gpus_per_task,
                  "GPUs of a task; it fails if it can use none")
      ->type_name("N")
      ->check(number_between(1, 1024))
      ->group(group);
  command
      .add_option(kPassedOnOption, args.sbatch,
                  "An option of sbatch, such as --sbatch=--time=2:00:00; what follows -- is the "
                  "same, one option each")
      ->type_name("OPTION")
      ->group(group);
  command.add_flag("--wait", args.wait, "Follow the job until all its tasks have ended")
      ->group(group);
  command
      .add_flag("--print-script", args.print_script,
                "Write the files of the job, print its script, and submit nothing")
      ->group(group);
}

}  // namespace

void add_slurm(CLI::App& app, Action& action) {
  auto args = std::make_shared<SlurmArgs>();
  CLI::App* command = app.add_subcommand("slurm", "Reconstruct images by a job array of Slurm")
                          ->group(kManyMachinesCommands);
  add_input_options(
      *command, *args,
      "Folders (searched recursively), tar archives and image files, with the same paths on all "
      "nodes");
  add_slurm_options(*command, *args);
  add_reconstruction_options(*command, *args);
  command
      ->add_option("-o,--output", args->output,
                   "Output folder, with the same path on all nodes; created if missing")
      ->required()
      ->type_name("FOLDER")
      ->group("Output");
  add_format_options(*command, *args);
  command
      ->add_flag("--reprocess", args->reprocess,
                 "Reprocess outputs that were made with other settings")
      ->group("Output");
  add_pack_option(*command, *args,
                  "tar: the outputs of each task go to one tar archive in the output folder, with "
                  "an index and a report beside it");
  add_wait_for_space_option(*command, *args);
  add_config_options(*command, args->config, false);
  add_peak_option(*command, args->peak)->group("Reports and log");
  command->add_flag("--json", args->json, "Print one JSON object")->group("Reports and log");
  describe(
      *command,
      {.usage = {"INPUT... -o FOLDER [OPTIONS] [-- SBATCH_OPTION...]"},
       .examples = {{"A job array with a GPU for each task, followed to its end",
                     "eckart slurm scans -o results --rank 20 --gpus-per-task 1 --wait"},
                    {"At most 8 tasks at the same time, on a partition, each for two hours",
                     "eckart slurm scans -o results --max-running 8 -- --partition=gpu "
                     "--time=2:00:00"},
                    {"Only the script", "eckart slurm scans -o results --tasks 16 --print-script"}},
       .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage, ExitCode::no_input,
                      ExitCode::unavailable, ExitCode::cannot_create, ExitCode::io_error,
                      ExitCode::temporary, ExitCode::no_permission, ExitCode::configuration,
                      ExitCode::hung_up, ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return slurm(*args); }; });
}

}  // namespace eckart::cli
