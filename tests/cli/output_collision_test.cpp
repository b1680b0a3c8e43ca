// A file that is not known as an output of this input is not replaced.
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class OutputCollisionTest : public CliTest {
 protected:
  void SetUp() override {
    write_png("cam1/a.png");
    write("cam2/a.png", encoded("png", 30, 20));
  }
  ProcessResult run_cam(const std::string& camera, const std::vector<std::string>& more = {},
                        const std::string& rank = "2") {
    std::vector<std::string> arguments{"run", camera, "-o", "out", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::vector<std::byte> bytes(const fs::path& file) { return io::read_file(at(file), 1); }
};

TEST_F(OutputCollisionTest, keeps_foreign_file) {
  write("out/a.png", "precious");
  const ProcessResult result = run_cam("cam1");
  EXPECT_EQ(result.code, 3);
  const std::string line = line_containing(result.err, "cam1/a.png: ");
  EXPECT_THAT(line, HasSubstr("output collision"));
  EXPECT_THAT(line, HasSubstr("out/a.png already exists (not in the ledger)"));
  EXPECT_THAT(line, HasSubstr("--overwrite"));
  EXPECT_EQ(bytes("out/a.png").size(), 8u);
  EXPECT_THAT(files("out"), ElementsAre("a.png")) << "and no temporaries";
  EXPECT_EQ(run_cam("cam1", {"--overwrite"}).code, 0);
  EXPECT_NO_THROW(decode("out/a.png"));
}

TEST_F(OutputCollisionTest, keeps_empty_file_symlink_directory_and_fifo) {
  for (const auto& make : std::vector<std::function<void()>>{
           [&] { write("out/a.png", ""); }, [&] { fs::create_symlink("nowhere", at("out/a.png")); },
           [&] { fs::create_directory(at("out/a.png")); },
           [&] { ASSERT_EQ(::mkfifo(at("out/a.png").c_str(), 0600), 0); }}) {
    fs::remove_all(at("out"));
    fs::create_directory(at("out"));
    make();
    const auto before = fs::symlink_status(at("out/a.png")).type();
    EXPECT_EQ(run_cam("cam1").code, 3);
    EXPECT_EQ(fs::symlink_status(at("out/a.png")).type(), before);
  }
  EXPECT_EQ(run_cam("cam1", {"--overwrite"}).code, 0);
}

TEST_F(OutputCollisionTest, keeps_result_of_another_input) {
  ASSERT_EQ(run_cam("cam1").code, 0);
  const auto before = bytes("out/a.png");
  const ProcessResult result = run_cam("cam2");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(
      line_containing(result.err, "cam2/a.png: "),
      HasSubstr("out/a.png already exists (the output of " + at("cam1/a.png").native() + ")"));
  EXPECT_EQ(bytes("out/a.png"), before);
  EXPECT_EQ(run_cam("cam1").code, 0) << "it is still known";
  EXPECT_EQ(run_cam("cam2", {"--overwrite"}).code, 0);
  EXPECT_NE(bytes("out/a.png"), before);
}

TEST_F(OutputCollisionTest, keeps_modified_result) {
  ASSERT_EQ(run_cam("cam1").code, 0);
  write("out/a.png", "retouched");
  const ProcessResult result = run_cam("cam1");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("modified after it was written: 9 bytes, not "));
  EXPECT_EQ(bytes("out/a.png").size(), 9u);
}

/// The time of the output, 0, must not count as unknown. Otherwise the edit would be replaced.
TEST_F(OutputCollisionTest, keeps_modified_result_of_an_input_from_the_start_of_1970) {
  constexpr timespec kTimes[2] = {};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("cam1/a.png").c_str(), kTimes, 0), 0);
  const std::vector<std::string> options{"--set", "output.times=keep", "--format", "pnm",
                                         "--reprocess"};
  ASSERT_EQ(run_cam("cam1", options).code, 0);
  EXPECT_EQ(fs::last_write_time(at("out/a.pnm")), fs::last_write_time(at("cam1/a.png")));
  EXPECT_EQ(run_cam("cam1", options, "3").code, 0) << "not modified";
  write("out/a.pnm", std::string(bytes("out/a.pnm").size(), 'x'));
  const auto edited = bytes("out/a.pnm");
  const ProcessResult result = run_cam("cam1", options, "4");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("modified after it was written"));
  EXPECT_EQ(bytes("out/a.pnm"), edited);
}

/// Writes all outputs of an image or none.
TEST_F(OutputCollisionTest, prevents_the_other_outputs_of_the_input) {
  write("out/a.k3.png", "precious");
  EXPECT_EQ(run_cam("cam1", {}, "2,3").code, 3);
  EXPECT_THAT(files("out"), ElementsAre("a.k3.png"));
}

TEST_F(OutputCollisionTest, is_not_reported_for_a_file_with_identical_bytes) {
  ASSERT_EQ(run_cam("cam1").code, 0);
  const auto time = fs::last_write_time(at("out/a.png"));
  fs::remove_all(at("out/.eckart"));
  EXPECT_EQ(run_cam("cam1").code, 0);
  EXPECT_EQ(fs::last_write_time(at("out/a.png")), time) << "it stays as it is";
  EXPECT_THAT(run_cam("cam1").err, HasSubstr("1 skipped")) << "and is known from now on";
}

TEST_F(OutputCollisionTest, is_reported_for_any_existing_file_without_ledger) {
  write("out/a.png", "precious");
  const ProcessResult result = run_cam("cam1", {"--ledger", "none"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("out/a.png already exists (no ledger is kept)"));
  EXPECT_EQ(run_cam("cam1", {"--ledger", "none", "--overwrite"}).code, 0);
  EXPECT_EQ(run_cam("cam1", {"--ledger", "none"}).code, 0) << "it has the same bytes";
  EXPECT_EQ(run_cam("cam1", {"--ledger", "none"}, "3").code, 3) << "and now it has others";
}

/// Also on a file system without RENAME_NOREPLACE.
TEST_F(OutputCollisionTest, is_detected_on_publishing_without_rename_noreplace) {
  write("out/a.png", "precious");
  std::vector<std::string> arguments{"run", "cam1", "-o", "out", "-k", "2"};
  EXPECT_EQ(run(arguments, {.fault = "noreplace:22:1:1000"}).code, 3);
  EXPECT_EQ(bytes("out/a.png").size(), 8u);
  fs::remove(at("out/a.png"));
  EXPECT_EQ(run(arguments, {.fault = "noreplace:22:1:1000"}).code, 0);
}

/// The run ends as if the folder could not be written.
TEST_F(OutputCollisionTest, is_not_reported_when_an_output_cannot_be_looked_at) {
  write_png("in/unstable/a.png");
  for (const char* folder : {".", "in", "in/unstable", "out", "out/unstable"}) {
    fs::create_directories(at(folder));
    fs::permissions(at(folder), fs::perms::all);
  }
  const std::vector<std::string> command{"run", "in", "-o", "out", "-k", "2"};
  fs::permissions(at("out/unstable"), fs::perms::none);
  for (const char* more : {"--quiet", "--ledger=none", "--dry-run"}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back(more);
    const ProcessResult result = run(arguments, {.as_nobody = true});
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << more << ": " << result.err;
    EXPECT_THAT(result.out + result.err,
                Not(AnyOf(HasSubstr("already exists"), HasSubstr("collision ("))))
        << more;
  }
  fs::permissions(at("out/unstable"), fs::perms::all);
  ASSERT_EQ(run(command).code, 0);  // a file that does not exist is not looked at
  write("out/unstable/a.png.png",
        "of another program");  // so that the full name is looked at first
  for (int call = 1; call <= 2; ++call) {
    const std::string fault = "lstat:" + std::to_string(EIO) + ":" + std::to_string(call) + ":1";
    const ProcessResult broken = run(command, {.fault = fault});
    EXPECT_EQ(broken.code, int(ExitCode::io_error)) << call << ": " << broken.err;
  }
  EXPECT_EQ(run(command).code, 0);
}

TEST_F(OutputCollisionTest, is_reported_by_dry_run_for_each_output) {
  for (const char* name : {"same", "changed", "gone", "edited"})
    write_png(std::string("in/") + name + ".png");
  const std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", "2"};
  ASSERT_EQ(run(arguments).code, 0);
  write("in/changed.png", encoded("png", 30, 20));
  fs::remove(at("out/gone.png"));
  write("out/edited.png", "retouched");
  write_png("in/new.png");
  write_png("in/foreign.png");
  write("out/foreign.png", "precious");
  write("in/other.jpg", encoded("jpeg"));
  ASSERT_EQ(run({"run", "cam1", "-o", "out", "-k", "2", "--set", "output.name=other.png"}).code, 0);
  auto with_dry_run = arguments;
  with_dry_run.emplace_back("--dry-run");
  const ProcessResult result = run(with_dry_run);
  EXPECT_EQ(result.code, 3);
  const auto says = [&](const std::string& output) {
    const std::string line = line_containing(result.out, "-> out/" + output + ".png: ");
    return line.substr(line.find(": ") + 2);
  };
  EXPECT_EQ(says("same"), "same");
  EXPECT_EQ(says("new"), "new");
  EXPECT_EQ(says("changed"), "reprocessed (the input changed)");
  EXPECT_EQ(says("gone"), "reprocessed (the output is missing)");
  EXPECT_EQ(says("foreign"), "collision (not in the ledger)");
  EXPECT_THAT(says("edited"), HasSubstr("collision (modified after it was written: 9 bytes, not "));
  EXPECT_THAT(says("other"), HasSubstr("collision (the output of "));
  EXPECT_THAT(result.err, HasSubstr("inputs: 7, "));
  EXPECT_THAT(result.err, HasSubstr("outputs: 1 new, 1 same, 2 reprocessed, 3 collisions\n"));
}

/// --overwrite does not remove a directory.
TEST_F(OutputCollisionTest, is_reported_for_a_directory_and_for_a_file_in_place_of_one) {
  write_png("in/a.png");
  write_png("in/d/e/b.png");
  fs::create_directories(at("out/a.png"));
  write("out/d", "precious");
  for (const char* option : {"--dry-run", "-v", "--overwrite"}) {
    SCOPED_TRACE(option);
    const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", option});
    EXPECT_EQ(result.code, 3);
    const std::string text = option == std::string("--dry-run") ? result.out : result.err;
    EXPECT_THAT(text, HasSubstr(" (a directory)"));
    EXPECT_THAT(text, HasSubstr(" (out/d is not a directory)"));
    EXPECT_THAT(text, HasSubstr("collision"));
    EXPECT_THAT(text, Not(HasSubstr("with --overwrite")));
    EXPECT_EQ(bytes("out/d").size(), 8u);
  }
}

/// Outputs of the previous ranks are kept, modified or not.
TEST_F(OutputCollisionTest, is_not_reported_when_a_rank_is_added) {
  write_png("in/a.png");
  write_png("in/b.png");
  const auto at_ranks = [&](const std::string& ranks, const std::string& option = "-q") {
    return run({"run", "in", "-o", "out", "-k", ranks, "--report", "-", option});
  };
  ASSERT_EQ(at_ranks("5,7").code, 0);
  const auto made_at = [&] { return fs::last_write_time(at("out/a.k5.png")); };
  const auto before = made_at();
  EXPECT_THAT(at_ranks("5,7,9", "--dry-run").err,
              HasSubstr("outputs: 2 new, 4 same, 0 reprocessed, 0 collisions"));
  const std::string report = at_ranks("5,7,9").out;
  EXPECT_EQ(made_at(), before);
  EXPECT_EQ(files("out").size(), 6u);
  EXPECT_EQ(count_occurrences(report, R"("result":"skipped")"), 4);
  EXPECT_EQ(count_occurrences(report, R"("result":"done")"), 2);
  EXPECT_THAT(at_ranks("5,7,9", "-v").err, HasSubstr("2 skipped"));
}

/// No publish intent of an unpublished output remains.
TEST_F(OutputCollisionTest, leaves_no_publish_intent_of_other_outputs) {
  write_png("in/a.png");
  write("out/a.k7.png", "precious");
  EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "5,7"}).code, 3);
  EXPECT_THAT(files("out"), ElementsAre("a.k7.png"));
  EXPECT_THAT(run({"run", "in", "-o", "out", "-k", "5,7", "--dry-run"}).out,
              HasSubstr("out/a.k5.png: new\n"));
}

/// The run is killed before it renames new results to the paths of old ones.
TEST_F(OutputCollisionTest, keeps_ledger_entries_of_old_results_after_a_kill) {
  const auto at_rank = [&](const std::string& rank, const std::string& fault = {}) {
    return run({"run", "in", "-o", "out", "-k", rank, "--reprocess"}, {.fault = fault});
  };
  write_png("in/a.png");
  ASSERT_EQ(at_rank("5").code, 0);
  ASSERT_EQ(at_rank("7", "rename:0:1:1").code, -SIGKILL);
  const ProcessResult other = run({"run", "in", "-o", "out", "-k", "9"});
  EXPECT_EQ(other.code, int(ExitCode::usage)) << "no setting replaces a result unasked";
  EXPECT_THAT(other.err, HasSubstr("1 output made with other settings (rank 5 -> 9)"));
  fs::permissions(at("out/a.png"), fs::perms::owner_read);  // changes the ctime, as a copy does
  EXPECT_EQ(at_rank("7").code, 0);
  EXPECT_THAT(run({"run", "in", "-o", "out", "-k", "7"}).err, HasSubstr("1 skipped"));
}

/// NFS and SMB may set the mtime of a file when they write it back.
TEST_F(OutputCollisionTest, is_not_reported_for_killed_run_output_with_time_of_writeback) {
  for (int call = 1; !fs::exists(at("out/a.png")) && call < 20; ++call)
    run({"run", "cam1", "-o", "out", "-k", "2"},
        {.fault = "writeback:0:" + std::to_string(call) + ":1"});
  ASSERT_TRUE(fs::exists(at("out/a.png")));
  write("cam1/a.png", encoded("png", 30, 20));
  const ProcessResult result = run_cam("cam1");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(decode("out/a.png").shape().rows, 30);
}

TEST_F(OutputCollisionTest, keeps_file_of_same_size_and_similar_time) {
  ASSERT_EQ(run_cam("cam1").code, 0);
  const fs::path output = fs::path("out") / "a.png";
  const auto made = fs::last_write_time(at(output));
  const std::string precious(fs::file_size(at(output)), 'x');
  std::ofstream(at(output)) << precious;
  fs::last_write_time(at(output), made + std::chrono::milliseconds(300));
  fs::last_write_time(at("cam1/a.png"), made + std::chrono::hours(1));
  const ProcessResult result = run_cam("cam1");
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("modified after it was written; the input changed"));
  std::ifstream left(at(output));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(left), {}), precious);
}

TEST_F(OutputCollisionTest, is_not_reported_for_a_changed_input_of_same_size) {
  ASSERT_EQ(run_cam("cam1").code, 0);
  const auto size = fs::file_size(at("cam1/a.png"));
  const auto time = fs::last_write_time(at("cam1/a.png"));
  fs::last_write_time(at("cam1/a.png"), time + std::chrono::seconds(2));
  ASSERT_EQ(fs::file_size(at("cam1/a.png")), size);
  EXPECT_THAT(run_cam("cam1").err, HasSubstr("1 done"));
}

}  // namespace
}  // namespace eckart::test
