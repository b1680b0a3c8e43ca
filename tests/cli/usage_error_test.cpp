// Tests usage errors of a run: exit codes and messages.
#include <unistd.h>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class UsageErrorTest : public CliTest {
 protected:
  void SetUp() override { write_png("in/a.png"); }

  void expect(ExitCode code, const std::string& words, const std::vector<std::string>& arguments,
              EckartProcess::Options options = {}) {
    const ProcessResult result = run(arguments, options);
    EXPECT_EQ(result.code, int(code)) << result.err;
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(UsageErrorTest, is_reported_for_an_unknown_flag) {
  expect(ExitCode::usage, "--frobnicate", {"run", "in", "-o", "out", "--frobnicate"});
  expect(ExitCode::usage, "no command is given; see eckart --help", {});
  expect(ExitCode::usage, "unknown command 'rum'; did you mean run?; see eckart --help", {"rum"});
}

TEST_F(UsageErrorTest, is_reported_for_an_empty_option_value) {
  expect(ExitCode::usage, "--report= has no value; see eckart run --help",
         {"run", "in", "-o", "out", "--report=", "--overwrite"});
  expect(ExitCode::usage, "-o= has no value; see eckart run --help", {"run", "in", "-o="});
  expect(ExitCode::usage, "--report has no value; see eckart run --help",
         {"run", "in", "-o", "out", "--report", ""});
  expect(ExitCode::usage, "--target has no value; see eckart plan --help",
         {"plan", "--target", "", "log"});
  EXPECT_FALSE(fs::exists(at("=")));
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, is_reported_for_a_run_without_input_or_output) {
  expect(ExitCode::usage, "no input", {"run", "-o", "out"});
  expect(ExitCode::usage, "no output folder", {"run", "in"});
}

TEST_F(UsageErrorTest, is_reported_for_an_unknown_decoder) {
  expect(ExitCode::configuration, "input.decoder: 'libvips' is not one of strict, opencv",
         {"run", "in", "-o", "out", "--set", "input.decoder=libvips"});
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, is_reported_for_a_missing_config_file) {
  expect(ExitCode::no_input, "nowhere.yaml: no such file or folder",
         {"run", "in", "-o", "out", "--config", "nowhere.yaml"});
}

TEST_F(UsageErrorTest, is_reported_for_unwritable_stdout) {
  write_png("in/a.png");
  EckartProcess::Options shell;
  shell.program = "/bin/sh";
  const auto error = [&](const std::string& arguments) {
    const ProcessResult result =
        run({"-c", "exec " ECKART_PROGRAM " " + arguments + " > /dev/full"}, shell);
    EXPECT_EQ(result.code, 74) << arguments;
    return result.err;
  };
  EXPECT_THAT(error("--version"), HasSubstr("cannot write the results to stdout"));
  EXPECT_THAT(error("run in -o out -k 2 -q --backend cpu --json"),
              HasSubstr("cannot write the results to stdout: No space left on device"));
}

TEST_F(UsageErrorTest, is_reported_for_a_missing_temporary_folder_by_bench_only) {
  const EckartProcess::Options options{.environment = {{"TMPDIR", "/nonexistent"}}};
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2", "-q"}, options).code, 0);
  expect(ExitCode::cannot_create, "there is no temporary folder", {"bench", "scaling", "in"},
         options);
}

using MemoryShortageTest = UsageErrorTest;

TEST_F(MemoryShortageTest, ends_the_run_with_75) {
  if (kIsSanitized) GTEST_SKIP() << "no limit leaves the address space that sanitizers take";
  const ProcessResult result =
      run({"synth", "-o", "made", "--kind", "gradient", "--size", "30000", "--count", "1"},
          {.folder = {}, .in = {}, .address_space_mb = 700});
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_THAT(result.err, HasSubstr("out of memory"));
}

TEST_F(UsageErrorTest, is_reported_for_an_unknown_key) {
  write("c.yaml", "rank: 5\nbatsch: 3\n");
  expect(ExitCode::configuration, "c.yaml:2: batsch: unknown key",
         {"run", "in", "-o", "out", "--config", "c.yaml"});
  expect(ExitCode::configuration, "--set batsch=3",
         {"run", "in", "-o", "out", "--set", "batsch=3"});
}

TEST_F(UsageErrorTest, is_reported_for_an_invalid_value) {
  expect(ExitCode::usage,
         "--format: 'bmp' is not one of png, jpeg, tiff, webp, pnm, none; see eckart run --help",
         {"run", "in", "-o", "out", "--format", "bmp"});
  expect(ExitCode::configuration, "threads.load",
         {"run", "in", "-o", "out", "--set", "threads.load=many"});
}

TEST_F(UsageErrorTest, is_reported_for_an_output_folder_that_is_not_written_to) {
  expect(ExitCode::usage, "-o out cannot be combined with output.format none: nothing is written",
         {"run", "in", "-o", "out", "--format", "none"});
}

TEST_F(UsageErrorTest, names_the_flag_of_an_invalid_value) {
  const std::string value(100, 'x');
  expect(ExitCode::usage,
         "--size " + value + ": input.size: ", {"run", "in", "-o", "out", "--size", value});
}

TEST_F(UsageErrorTest, marks_the_wrong_character_of_a_rank) {
  write("ranks.yaml", "rank: 20,,30\n");
  const std::string grammar = "A rank is one of 20, 10%, ";
  expect(ExitCode::usage,
         "eckart: --rank: expected a percent sign\n  20,bytes:50,gd\n             ^\n" + grammar,
         {"run", "in", "-o", "out", "--rank", "20,bytes:50,gd"});
  expect(ExitCode::usage, "eckart: --rank: expected a rank\n  20,\\x095\n     ^\n" + grammar,
         {"watch", "in", "-o", "out", "-k", "20,\t5"});
  expect(ExitCode::configuration,
         "eckart: ranks.yaml:1: rank: a rank is missing\n  20,,30\n     ^\n" + grammar,
         {"run", "in", "-o", "out", "--config", "ranks.yaml"});
  expect(ExitCode::usage, "eckart: --chroma-rank: ranks begin at 1\n  0\n  ^\n" + grammar,
         {"run", "in", "-o", "out", "--color", "ycbcr", "--chroma-rank", "0"});
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, is_reported_for_a_missing_input) {
  write_png("also/a.png");
  const std::vector<Names> commands = {{"run", "nowhere", "-o", "out"},
                                       {"run", "also", "nowhere", "-o", "out"},
                                       {"run", "--files-from", "nowhere", "-o", "out"},
                                       {"watch", "nowhere", "-o", "out"},
                                       {"bench", "scaling", "nowhere", "--log", "out"},
                                       {"plan", "nowhere"},
                                       {"status", "nowhere"},
                                       {"requeue", "nowhere"},
                                       {"prune", "nowhere"},
                                       {"ledger", "export", "nowhere", "out"},
                                       {"ledger", "import", "nowhere", "out"},
                                       {"top", "--config", "nowhere"}};
  for (const Names& command : commands) {
    const ProcessResult result = run(command);
    EXPECT_EQ(result.code, int(ExitCode::no_input)) << command.front();
    EXPECT_THAT(result.err, HasSubstr("nowhere")) << command.front();
    EXPECT_EQ(count_occurrences(result.err, "\n"), 1) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(at("out"))) << command.front();
  }
}

/// Their paths cannot exist, or cannot be looked at.
TEST_F(UsageErrorTest, names_the_reason_if_a_path_cannot_be_read) {
  const std::string name(300, 'x');
  for (const Names& command : {Names{"run", name, "-o", "out"}, Names{"watch", name, "-o", "out"},
                               Names{"status", name}, Names{"requeue", name}})
    expect(ExitCode::no_input, name + ": File name too long", command);

  write_png("closed/in/a.png");
  fs::create_directories(at("closed/out/.eckart/quarantine"));
  for (const char* folder : {".", "closed"}) fs::permissions(at(folder), fs::perms::all);
  const EckartProcess::Options as_nobody{.as_nobody = getuid() == 0};
  fs::permissions(at("closed/out/.eckart/quarantine"), fs::perms::none);
  expect(ExitCode::no_permission, "quarantine: cannot be read: Permission denied",
         {"requeue", "closed/out"}, as_nobody);
  fs::permissions(at("closed"), fs::perms::none);
  expect(ExitCode::no_permission, "closed/in: Permission denied",
         {"watch", "closed/in", "-o", "out"}, as_nobody);
  for (const char* folder : {"closed", "closed/out/.eckart/quarantine"})
    fs::permissions(at(folder), fs::perms::all);
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, is_reported_for_an_output_folder_in_the_input_folder) {
  for (const char* command : {"run", "watch"}) {
    expect(ExitCode::usage, "the output folder in is the input in", {command, "in", "-o", "in"});
    expect(ExitCode::usage, "the output folder in/out is inside the input in",
           {command, "in", "-o", "in/out"});
  }
  EXPECT_FALSE(fs::exists(at("in/out")));
}

TEST_F(UsageErrorTest, is_reported_for_a_folder_as_list) {
  expect(ExitCode::no_input, "in: cannot be opened: Is a directory",
         {"run", "--files-from", "in", "-o", "out"});
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, shows_how_several_ranks_are_given) {
  expect(ExitCode::no_input, "20: no such file or folder; several ranks are one value: --rank 5,20",
         {"run", "in", "-o", "out", "--rank", "5", "20"});
}

TEST_F(UsageErrorTest, shows_how_the_value_of_a_flag_is_given) {
  expect(ExitCode::no_input,
         "float16: no such file or folder; the type of factors follows an "
         "equals sign: --factors=float16",
         {"run", "in", "-o", "out", "--factors", "float16"});
  expect(ExitCode::no_input,
         "4: no such file or folder; the gain of residuals follows an equals "
         "sign: --residual=4",
         {"run", "in", "-o", "out", "--residual", "4"});
  expect(ExitCode::usage,
         "--residual high: output.residual: ", {"run", "in", "-o", "out", "--residual=high"});
}

TEST_F(UsageErrorTest, is_reported_for_a_folder_without_images) {
  fs::create_directory(at("empty"));
  write("texts/a.txt", "text");
  expect(ExitCode::nothing_readable, "no images in empty", {"run", "empty", "-o", "out"});
  write("list", "");
  expect(ExitCode::nothing_readable, "no images in the list list",
         {"run", "--files-from", "list", "-o", "out"});
  expect(ExitCode::nothing_readable, "no images in texts (1 file not read: 1 .txt)",
         {"run", "texts", "-o", "out"});
}

TEST_F(UsageErrorTest, ends_the_run_with_65_when_no_input_is_readable) {
  write("bad/a.png", "text");
  expect(ExitCode::nothing_readable, "bad/a.png: ", {"run", "bad", "-o", "out"});
}

TEST_F(UsageErrorTest, is_reported_for_an_output_folder_that_cannot_be_created) {
  write("file", "text");
  expect(ExitCode::cannot_create, "the output folder file: ", {"run", "in", "-o", "file"});
  expect(ExitCode::cannot_create, "the output folder file/sub: ", {"run", "in", "-o", "file/sub"});
  EXPECT_EQ(fs::file_size(at("file")), 4u);
}

TEST_F(UsageErrorTest, is_reported_for_an_output_folder_without_permission) {
  fs::create_directory(at("closed"));
  fs::permissions(at("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  fs::permissions(at("."), fs::perms::all);
  expect(ExitCode::no_permission, "closed/out", {"run", "in", "-o", "closed/out"},
         {.folder = {}, .in = {}, .as_nobody = getuid() == 0});
}

TEST_F(UsageErrorTest, is_reported_for_an_output_folder_inside_an_input) {
  expect(ExitCode::usage, "the output folder in is the input in", {"run", "in", "-o", "in"});
  expect(ExitCode::usage, "the output folder in/out is inside the input in",
         {"run", "in", "-o", "in/out"});
  expect(ExitCode::usage, "the output folder ./in/../in is the input in",
         {"run", "in", "-o", "./in/../in"});
  EXPECT_THAT(files("in"), ElementsAre("a.png"));
}

TEST_F(UsageErrorTest, is_reported_for_an_output_name_of_another_format) {
  expect(ExitCode::usage,
         "the output name '{stem}.jpg' has the extension of jpeg, but the format is png",
         {"run", "in", "-o", "out", "--set", "output.name={stem}.jpg"});
  expect(ExitCode::usage, "'{stem}.Heic' has the extension of heic, but the format is png",
         {"run", "in", "-o", "out", "--set", "output.name={stem}.Heic"});
  expect(ExitCode::usage, "'{stem}.PNG' has the extension of png, but the format is jpeg",
         {"run", "in", "-o", "out", "--format", "jpg", "--set", "output.name={stem}.PNG"});
  expect(ExitCode::usage,
         "the output name '{stem}' lacks the extension of the format; use '{stem}.{ext}'",
         {"run", "in", "-o", "out", "--name", "{stem}"});
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(UsageErrorTest, is_reported_for_cuda_without_gpu) {
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--backend", "cuda"});
  if (result.code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(result.err, HasSubstr("the CUDA backend is not available: "));
  EXPECT_EQ(count_occurrences(result.err, "\n"), 1) << result.err;
}

TEST_F(UsageErrorTest, is_reported_for_an_output_name_with_slash_or_unknown_field) {
  expect(ExitCode::configuration, "slash",
         {"run", "in", "-o", "out", "--set", "output.name=a/{stem}.png"});
  write("c.yaml", "output:\n  name: \"{foo}.png\"\n");
  expect(ExitCode::configuration,
         "c.yaml:2: output.name: '{foo}.png' has {foo}: valid fields are {stem}",
         {"run", "--print-config", "--config", "c.yaml"});
  expect(ExitCode::usage, "must contain {rank} or {label}",
         {"run", "in", "-o", "out", "-k", "2,3", "--set", "output.name={stem}.png"});
}

}  // namespace
}  // namespace eckart::test
