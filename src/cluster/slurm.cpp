#include "cluster/slurm.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <string_view>

#include "cluster/command.hpp"
#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::cluster {
namespace {

/// The first line of an error, without the name of the program that Slurm puts before it.
std::string error_of(const std::string& command, const CommandResult& result) {
  std::string line = result.err.substr(0, result.err.find('\n'));
  for (const std::string& prefix : {command + ": ", std::string("error: ")})
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  if (line.empty()) line = "exit code " + std::to_string(result.code);
  return command + ": " + text::printable_message(line);
}

std::string output_of(const std::vector<std::string>& arguments) {
  const CommandResult result = run_command(arguments);
  if (result.code != 0) throw FatalError(ExitCode::unavailable, error_of(arguments[0], result));
  return result.out;
}

bool is_pending(const std::string& state) {
  const std::string_view states[] = {"PD", "CF", "RQ", "RH", "RD", "RF", "SE", "RV"};
  return std::ranges::find(states, state) != std::end(states);
}

std::string first_word(const std::string& text) {
  std::string word;
  std::istringstream(text) >> word;
  return word;
}

}  // namespace

std::int64_t max_slurm_tasks() {
  const std::string configuration = output_of({"scontrol", "show", "config"});
  std::istringstream lines(configuration);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("MaxArraySize")) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::int64_t size = 0;
    if (digits != line.npos) std::from_chars(line.data() + digits, line.data() + line.size(), size);
    if (size < 2) break;
    return size - 1;
  }
  throw FatalError(ExitCode::unavailable, "this Slurm runs no job arrays: MaxArraySize is not set");
}

std::string submit_to_slurm(const std::filesystem::path& script) {
  const std::string output = output_of({"sbatch", "--parsable", script.native()});
  std::string job = output.substr(0, output.find_first_of(";\n"));  // of JOB;CLUSTER
  if (job.empty() || job.find_first_not_of("0123456789") != job.npos)
    throw FatalError(ExitCode::unavailable,
                     "sbatch printed no number of a job: " + text::printable_message(output));
  return job;
}

SlurmTasks slurm_tasks(const std::string& job) {
  const std::vector<std::string> command{"squeue", "--noheader", "--array", "--jobs=" + job,
                                         "--format=%t %r"};
  const CommandResult result = run_command(command);
  if (result.code == 0) return parse_slurm_states(result.out);
  // Slurm forgets jobs that ended some minutes ago.
  if (result.err.find("Invalid job id") != result.err.npos) return {};
  throw FatalError(ExitCode::unavailable, error_of("squeue", result));
}

std::string find_slurm_job(const std::string& name) {
  return first_word(output_of({"squeue", "--noheader", "--name=" + name, "--format=%F"}));
}

SlurmTasks parse_slurm_states(const std::string& lines) {
  SlurmTasks tasks;
  std::istringstream input(lines);
  for (std::string line; std::getline(input, line);) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string state = line.substr(0, space);
    if (state.empty()) continue;
    if (!is_pending(state)) {
      ++tasks.running;
      continue;
    }
    ++tasks.pending;
    const std::string reason = line.substr(std::min(space + 1, line.size()));
    // JobHeldUser, JobHeldAdmin, "launch failed requeued held"
    const bool is_held = reason.find("Held") != reason.npos || reason.find("held") != reason.npos;
    if (reason == "None" || (!tasks.pending_reason.empty() && (tasks.is_held || !is_held)))
      continue;
    tasks.pending_reason = reason;
    tasks.is_held = is_held;
  }
  return tasks;
}

}  // namespace eckart::cluster
