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

std::string directives(const SlurmArray& array) {
  std::string lines;
  const auto add = [&](const std::string& option) { lines += "#SBATCH " + option + '\n'; };
  add("--job-name=eckart");
  add(fmt::format("--array=1-{}{}", array.tasks,
                  array.max_running > 0 ? fmt::format("%{}", array.max_running) : ""));
  add("--ntasks=1");
  if (array.gpus_per_task > 0) add(fmt::format("--gpus-per-task={}", array.gpus_per_task));
  add("--output=" + slurm_file_pattern(array.logs.native() + "/") + "%A_%a.log");
  add("--open-mode=append");
  add("--requeue");
  add(fmt::format("--signal=B:TERM@{}", kDrainSeconds));
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
{} &
eckart=$!
# Before the time limit, and with scancel, eckart finishes what it has begun.
trap 'kill -TERM "$eckart" 2>/dev/null' TERM
while kill -0 "$eckart" 2>/dev/null; do wait "$eckart"; done
wait "$eckart"
code=$?

# {}: it was stopped; {}: the same command may succeed later, on another node too. After scancel the
# state is not RUNNING.
if ((code == {} || code == {})) && ((${{SLURM_RESTART_COUNT:-0}} < {})) &&
  [[ $(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%T | head -n 1) == RUNNING ]]; then
  echo "the task is requeued: exit code $code"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
)",
                     run_command_line(array), int(ExitCode::terminated), int(ExitCode::temporary),
                     int(ExitCode::terminated), int(ExitCode::temporary), kMaxRequeues);
}

}  // namespace eckart::cluster
