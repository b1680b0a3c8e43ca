// Tests `eckart slurm` with programs in place of Slurm: the tasks run one after the other.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class SlurmTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png", "in/deep/d.png"})
      write_png(name);
    write_program("scontrol", "echo \"MaxArraySize            = 4\"");
    write_program("squeue", "exit 0");
    write_program("sbatch", R"(printf '%s\n' "$@" >sbatch.arguments
for script; do :; done
tasks=$(sed -n 's/^#SBATCH --array=1-\([0-9]*\).*/\1/p' "$script")
for ((task = 1; task <= tasks; ++task)); do
  SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task bash "$script" >>tasks.log 2>&1
done
echo 7)");
  }
  void write_program(const std::string& name, const std::string& body) {
    write("bin/" + name, "#!/bin/bash\n" + body + '\n');
    fs::permissions(at("bin/" + name), fs::perms::owner_all);
  }
  ProcessResult run_slurm(std::vector<std::string> more) {
    more.insert(more.begin(), {"slurm", "in", "-o", "out", "--backend", "cpu"});
    return run(more, {.environment = {{"PATH", at("bin").native() + ":/usr/bin:/bin"}}});
  }
  std::string text_of(const fs::path& relative) const {
    const auto bytes = io::read_file(at(relative), 1);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

TEST_F(SlurmTest, has_the_outputs_of_a_run) {
  ASSERT_EQ(run({"run", "in", "-o", "whole", "--backend", "cpu"}).code, 0);
  const ProcessResult result = run_slurm({"--tasks", "2", "--wait"});
  EXPECT_EQ(result.code, 0) << result.err << text_of("tasks.log");
  EXPECT_EQ(result.out, "7\n");
  EXPECT_THAT(result.err, HasSubstr("job 7: 2 tasks for 4 images"));
  EXPECT_THAT(result.err, HasSubstr("job 7 has ended: 4 images done, 0 failed"));
  EXPECT_EQ(files("out"), files("whole"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("4 done, 0 failed"));
}

TEST_F(SlurmTest, writes_the_options_of_sbatch_to_the_script) {
  const ProcessResult result =
      run_slurm({"--tasks", "1", "--json", "--sbatch=--qos=low", "--", "--partition=gpu", "-v"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string script = nlohmann::json::parse(result.out).at("script");
  EXPECT_EQ(text_of("sbatch.arguments"), "--parsable\n" + script + '\n');
  EXPECT_THAT(text_of(script),
              HasSubstr("#SBATCH --qos=low\n#SBATCH --partition=gpu\n#SBATCH -v\n"));
  EXPECT_EQ(run_slurm({"--", "--array=1-3"}).code, int(ExitCode::usage));
}

TEST_F(SlurmTest, makes_shards_larger_if_there_would_be_too_many_tasks) {
  const ProcessResult result = run_slurm({"--images", "1", "--json"});
  EXPECT_EQ(nlohmann::json::parse(result.out).at("tasks"), 3) << result.err;
  const ProcessResult refused = run_slurm({"--tasks", "4"});
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("--tasks 4: Slurm allows at most 3 here (MaxArraySize)"));
}

TEST_F(SlurmTest, prints_a_script_that_can_be_submitted) {
  const ProcessResult result = run_slurm({"--tasks", "2", "--print-script"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(fs::exists(at("sbatch.arguments")));
  for (const auto& entry : fs::directory_iterator(at("out/.eckart/shards")))
    EXPECT_EQ(text_of(entry.path() / "job.sh"), result.out);
}

TEST_F(SlurmTest, reports_failed_images) {
  write("in/bad.png", "no image");
  EXPECT_EQ(run_slurm({"--tasks", "2", "--wait"}).code, int(ExitCode::some_failed));
}

TEST_F(SlurmTest, names_tasks_that_did_not_finish) {
  write_program("sbatch", "echo 7");
  const ProcessResult result = run_slurm({"--tasks", "2", "--wait"});
  EXPECT_EQ(result.code, int(ExitCode::temporary));
  EXPECT_THAT(result.err, AllOf(HasSubstr("not finished: 2 tasks (1, 2)"), HasSubstr("sbatch ")));
}

TEST_F(SlurmTest, changes_no_job_that_has_tasks) {
  write_program("sbatch", "echo 7");
  ASSERT_EQ(run_slurm({"--tasks", "2"}).code, 0);
  write_program("squeue", R"(case $* in
  *--name=eckart-*) printf '7\n7\n7\n' ;;
  *--jobs=7*) printf 'R\nPD\nPD\n' ;;
esac)");
  for (const char* option : {"--wait", "--print-script"}) {
    const ProcessResult refused = run_slurm({"--tasks", "2", "-k", "1", option});
    EXPECT_EQ(refused.code, int(ExitCode::temporary)) << option;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("job 7 already processes these images"),
                                   HasSubstr("1 task running, 2 pending; to end it: scancel 7")));
  }
  for (const auto& entry : fs::directory_iterator(at("out/.eckart/shards")))
    EXPECT_THAT(text_of(entry.path() / "settings.yaml"), HasSubstr("rank: \"20\""));
  write_program("squeue", "exit 0");
  EXPECT_EQ(run_slurm({"--tasks", "2"}).code, 0);
}

TEST_F(SlurmTest, warns_of_shards_that_are_not_merged) {
  ASSERT_EQ(run_slurm({"--tasks", "2", "--wait"}).code, 0);
  EXPECT_THAT(run_slurm({"--tasks", "2"}).err, Not(HasSubstr("ledger merge")));
  EXPECT_THAT(run_slurm({"--tasks", "3"}).err, HasSubstr("eckart ledger merge"));
  ASSERT_EQ(run({"ledger", "merge", "out"}).code, 0);
  EXPECT_THAT(run_slurm({"--tasks", "3"}).err, Not(HasSubstr("ledger merge")));
}

TEST_F(SlurmTest, has_a_status_before_its_first_task) {
  write_program("sbatch", "echo 7");
  ASSERT_EQ(run_slurm({"--tasks", "2"}).code, 0);
  const ProcessResult status = run({"status", "out"});
  EXPECT_EQ(status.code, 0) << status.err;
  EXPECT_THAT(status.out,
              AllOf(HasSubstr("out: 0 done, 0 failed\n"), HasSubstr("0 of 2 shards finished")));
}

TEST_F(SlurmTest, refuses_other_settings_than_those_of_an_earlier_job) {
  ASSERT_EQ(run_slurm({"--tasks", "2", "--wait", "-k", "2"}).code, 0);
  write_program("sbatch", "touch '" + at("submitted").native() + "'; exit 1");
  const ProcessResult refused = run_slurm({"--tasks", "2", "--wait", "-k", "1"});
  EXPECT_EQ(refused.code, int(ExitCode::usage)) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("rank 2 -> 1"));
  EXPECT_FALSE(fs::exists(at("submitted")));
}

TEST_F(SlurmTest, reprocesses_the_images_of_an_earlier_job) {
  ASSERT_EQ(run_slurm({"--tasks", "2", "--wait", "-k", "2"}).code, 0);
  EXPECT_EQ(run_slurm({"--tasks", "2", "--wait", "-k", "1", "--reprocess"}).code, 0);
}

TEST_F(SlurmTest, refuses_an_output_folder_in_an_input) {
  const ProcessResult result =
      run({"slurm", "in", "-o", "in/out"},
          {.environment = {{"PATH", at("bin").native() + ":/usr/bin:/bin"}}});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_FALSE(fs::exists(at("in/out")));
}

TEST_F(SlurmTest, waits_while_the_controller_is_started_again) {
  write_program("squeue", R"~([[ $* == *--jobs=* && ! -e asked ]] || exit 0
touch asked
echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2
exit 1)~");
  const ProcessResult result = run_slurm({"--tasks", "2", "--wait"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Unable to contact slurm controller"));
}

TEST_F(SlurmTest, says_that_tasks_are_held) {
  write_program("squeue", R"~([[ $* == *--jobs=* && ! -e asked ]] || exit 0
touch asked
echo "PD launch failed requeued held")~");
  const ProcessResult result = run_slurm({"--tasks", "2", "--wait"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("Slurm holds tasks (launch failed requeued held); to let them "
                                    "go on: scontrol release 7"));
}

TEST_F(SlurmTest, needs_a_gpu_for_tasks_that_ask_for_one) {
  const auto backend = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"slurm", "in", "-o", "out", "--tasks", "2", "--print-script"});
    EXPECT_EQ(run(more, {.environment = {{"PATH", at("bin").native() + ":/usr/bin:/bin"}}}).code,
              0);
    std::string text;
    for (const auto& entry : fs::directory_iterator(at("out/.eckart/shards")))
      text += text_of(entry.path() / "settings.yaml");
    std::string word;
    std::istringstream(text.substr(text.find("\nbackend: ") + 10)) >> word;
    return word;
  };
  EXPECT_EQ(backend({}), "auto");
  EXPECT_EQ(backend({"--gpus-per-task", "1"}), "cuda");
  EXPECT_EQ(backend({"--gpus-per-task", "1", "--backend", "cpu"}), "cpu");
}

TEST_F(SlurmTest, says_what_sbatch_says) {
  write_program("sbatch", "echo 'sbatch: error: invalid partition specified: x' >&2; exit 1");
  const ProcessResult result = run_slurm({"--tasks", "2"});
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err, HasSubstr("sbatch: invalid partition specified: x"));
}

TEST_F(SlurmTest, needs_slurm) {
  for (const char* program : {"scontrol", "sbatch", "squeue"}) fs::remove(at("bin") / program);
  const ProcessResult result =
      run({"slurm", "in", "-o", "out"}, {.environment = {{"PATH", at("bin")}}});
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err, HasSubstr("scontrol is not installed, or not in PATH"));
  EXPECT_TRUE(files("out").empty());
}

}  // namespace
}  // namespace eckart::test
