#include "cluster/slurm_script.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::cluster {
namespace {

/// A path in a line "#SBATCH --output=": Slurm replaces what follows a percent sign, and knows
/// quotes, but no escapes in them.
std::string slurm_file_pattern(const std::string& path) {
  if (path.find_first_of("\"\\\n") != path.npos)
    throw FatalError(ExitCode::usage, text::printable(path) +
                                          ": a path with a double quote, a backslash or a line "
                                          "break cannot be given to Slurm");
  std::string pattern;
  for (const char c : path) pattern += c == '%' ? "%%" : std::string(1, c);
  return '"' + pattern + '"';
}

/// An argument in a line "#SBATCH": Slurm knows quotes, but no escapes.
std::string sbatch_word(const std::string& word) {
  if (word.find_first_of(" \t\n#\"'\\") == word.npos && !word.empty()) return word;
  for (const char quote : {'"', '\''}) {
    const bool fits = word.find(quote) == word.npos && word.find_first_of("\\\n") == word.npos;
    if (fits) return quote + word + quote;
  }
  throw FatalError(ExitCode::usage, "the option " + text::printable(word) +
                                        " of sbatch has characters that a script cannot have");
}

/// A line for each option, with its value if that is the next argument.
std::vector<std::string> option_lines(const std::vector<std::string>& arguments) {
  std::vector<std::string> lines;
  for (const std::string& argument : arguments) {
    if (argument == "-a" || argument == "--array" || argument.starts_with("--array="))
      throw FatalError(ExitCode::usage,
                       text::printable(argument) + ": --tasks and --max-running set the array");
    if (!argument.starts_with('-') && !lines.empty()) {
      lines.back() += ' ' + sbatch_word(argument);
    } else {
      lines.push_back(sbatch_word(argument));
    }
  }
  return lines;
}

std::string directives(const SlurmArray& array) {
  std::string lines;
  const auto add = [&](const std::string& option) { lines += "#SBATCH " + option + '\n'; };
  add("--job-name=" + array.name);
  add(fmt::format("--array=1-{}{}", array.tasks,
                  array.max_running > 0 ? fmt::format("%{}", array.max_running) : ""));
  add("--ntasks=1");
  if (array.gpus_per_task > 0) add(fmt::format("--gpus-per-task={}", array.gpus_per_task));
  add("--output=" + slurm_file_pattern(array.logs.native() + "/") + "%A_%a.log");
  add("--open-mode=append");
  add("--requeue");
  add(fmt::format("--signal=B:TERM@{}", kDrainSeconds));
  for (const std::string& line : option_lines(array.sbatch_options)) add(line);
  return lines;
}

std::string run_command_line(const SlurmArray& array) {
  const auto word = [](const std::string& text) { return text::shell_word(text); };
  std::string line = word(array.program.native()) + " run --shard " +
                     word(array.manifest.native()) +
                     fmt::format(":\"$SLURM_ARRAY_TASK_ID\"/{}", array.tasks) + " -o " +
                     word(array.output.native()) + " --config " + word(array.settings.native());
  for (const std::string& option : array.run_options) line += ' ' + word(option);
  return line;
}

}  // namespace

std::string slurm_script(const SlurmArray& array) {
  return "#!/bin/bash\n"
         "# Written by eckart slurm: each task of this job array processes a shard of the inputs.\n"
         "# It can be submitted again: sbatch FILE. What is done is not done again.\n" +
         directives(array) +
         fmt::format(R"(
# Before the time limit, and with scancel, eckart finishes what it has begun.
eckart= is_stopped=
trap 'is_stopped=true; kill -TERM $eckart 2>/dev/null' TERM
{} &
eckart=$!
if [[ $is_stopped ]]; then kill -TERM "$eckart"; fi
while kill -0 "$eckart" 2>/dev/null; do wait "$eckart"; done
wait "$eckart"
code=$?

task=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID # SLURM_JOB_ID may name the whole array
try() {{  # for a minute, while slurmctld starts again
  for _ in 1 2 3 4 5 6; do "$@" && return || sleep 10; done
  return 1
}}
# {}: it was stopped; {}: the same command may succeed later, on another node too. After scancel the
# state is not RUNNING.
if ((code == {} || code == {})) && ((${{SLURM_RESTART_COUNT:-0}} < {})) &&
  [[ $(try squeue --noheader --jobs="$task" --format=%T) == RUNNING ]]; then
  echo "the task is requeued: exit code $code"
  try scontrol requeue "$task"
fi
exit "$code"
)",
                     run_command_line(array), int(ExitCode::terminated), int(ExitCode::temporary),
                     int(ExitCode::terminated), int(ExitCode::temporary), kMaxRequeues);
}

}  // namespace eckart::cluster
