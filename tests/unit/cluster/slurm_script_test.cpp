#include "cluster/slurm_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/command.hpp"
#include "core/error.hpp"

namespace eckart::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const SlurmArray kArray = {.program = "/opt/eckart/bin/eckart",
                           .manifest = "/share/out/m",
                           .settings = "/share/out/settings.yaml",
                           .output = "/share/out",
                           .logs = "/share/out/logs",
                           .name = "eckart-5",
                           .tasks = 8,
                           .run_options = {"--quiet"}};

TEST(SlurmScript, processes_a_shard_in_each_task) {
  const std::string script = slurm_script(kArray);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=1-8\n"));
  EXPECT_THAT(script, HasSubstr("\n/opt/eckart/bin/eckart run --shard "
                                "/share/out/m:\"$SLURM_ARRAY_TASK_ID\"/8 -o /share/out --config "
                                "/share/out/settings.yaml --quiet &\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --output=\"/share/out/logs/\"%A_%a.log\n"));
  EXPECT_THAT(script, Not(HasSubstr("gpus")));
}

TEST(SlurmScript, limits_running_tasks_and_asks_for_gpus) {
  SlurmArray array = kArray;
  array.max_running = 3;
  array.gpus_per_task = 2;
  const std::string script = slurm_script(array);
  EXPECT_THAT(script, HasSubstr("#SBATCH --array=1-8%3\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --gpus-per-task=2\n"));
}

TEST(SlurmScript, quotes_paths) {
  SlurmArray array = kArray;
  array.output = "/share/a b$x'";
  array.logs = "/share/100% of it";
  const std::string script = slurm_script(array);
  EXPECT_THAT(script, HasSubstr(" -o '/share/a b$x'\\''' "));
  EXPECT_THAT(script, HasSubstr("#SBATCH --output=\"/share/100%% of it/\"%A_%a.log\n"));
  array.logs = "/share/\"it\"";
  EXPECT_THROW(slurm_script(array), FatalError);
}

TEST(SlurmScript, has_the_options_of_sbatch) {
  SlurmArray array = kArray;
  array.sbatch_options = {"--partition=gpu", "-t", "2:00:00", "--comment=two words"};
  const std::string script = slurm_script(array);
  EXPECT_THAT(script, HasSubstr("#SBATCH --partition=gpu\n#SBATCH -t 2:00:00\n"
                                "#SBATCH \"--comment=two words\"\n"));
  for (const char* option : {"--array=1-3", "-a", "--comment=\"'", "--comment=a\nb"}) {
    array.sbatch_options = {option};
    EXPECT_THROW(slurm_script(array), FatalError) << option;
  }
}

TEST(SlurmScript, is_valid_bash) {
  SlurmArray array = kArray;
  array.output = "/share/a b$x'";
  const CommandResult checked = run_command({"bash", "-n", "-c", slurm_script(array)});
  EXPECT_EQ(checked.code, 0) << checked.err;
}

/// Runs the script with programs in place of eckart and Slurm. Returns what it printed.
CommandResult run_task(const std::string& eckart, const std::string& state, int restarts = 0) {
  SlurmArray array = kArray;
  array.program = "eckart";
  const std::string environment =
      "export SLURM_JOB_ID=4 SLURM_ARRAY_JOB_ID=4 SLURM_ARRAY_TASK_ID=2 SLURM_RESTART_COUNT=" +
      std::to_string(restarts) + "\neckart() { " + eckart +
      "; }\nsqueue() { if [[ \"$*\" == *--jobs=4_2* ]]; then echo " + state +
      "; else echo PENDING; fi; }\nscontrol() { echo scontrol \"$@\"; }\n";
  return run_command({"bash", "-c", environment + slurm_script(array)});
}

TEST(SlurmTask, ends_with_the_exit_code) {
  EXPECT_EQ(run_task("return 0", "RUNNING").code, 0);
  const CommandResult failed = run_task("return 3", "RUNNING");
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.out, Not(HasSubstr("scontrol")));
}

TEST(SlurmTask, is_requeued_if_it_may_succeed_later) {
  const CommandResult result = run_task("return 75", "RUNNING");
  EXPECT_EQ(result.code, 75);
  EXPECT_THAT(result.out, HasSubstr("scontrol requeue 4_2\n"));
}

TEST(SlurmTask, is_requeued_after_its_time_limit) {
  const CommandResult result =
      run_task("trap 'exit 143' TERM; kill -TERM $$; while :; do :; done", "RUNNING");
  EXPECT_EQ(result.code, 143);
  EXPECT_THAT(result.out, HasSubstr("scontrol requeue 4_2\n"));
}

TEST(SlurmTask, is_not_requeued_after_scancel) {
  EXPECT_THAT(run_task("return 143", "COMPLETING").out, Not(HasSubstr("scontrol")));
}

TEST(SlurmTask, is_requeued_a_limited_number_of_times) {
  EXPECT_THAT(run_task("return 75", "RUNNING", kMaxRequeues - 1).out, HasSubstr("scontrol"));
  EXPECT_THAT(run_task("return 75", "RUNNING", kMaxRequeues).out, Not(HasSubstr("scontrol")));
}

}  // namespace
}  // namespace eckart::cluster
