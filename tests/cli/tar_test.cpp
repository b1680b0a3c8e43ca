// Tests tar archives: as inputs, of `eckart pack` and `unpack`, and of `eckart run --pack`.
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"
#include "tests/support/tar_bytes.hpp"

namespace eckart::test {
namespace {

class TarTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png", "in/deep/d.png"})
      write_png(name);
    fs::create_directory(at("tmp"));
  }

  std::string text(const fs::path& relative) const {
    const std::vector<std::byte> bytes = io::read_file(at(relative), 1);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static nlohmann::json json(const ProcessResult& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }
  void expect_same_files(const fs::path& a, const fs::path& b) const {
    EXPECT_EQ(files(a), files(b));
    for (const std::string& name : files(a)) EXPECT_TRUE(text(a / name) == text(b / name)) << name;
  }

  /// Runs a shard with --pack.
  ProcessResult run_packed(const std::string& shard, const std::vector<std::string>& more = {},
                           const std::string& rank = "2") {
    std::vector<std::string> arguments{"run", "--shard", "m:" + shard, "-o", "out",
                                       "-k",  rank,      "--pack",     "tar"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.environment = {{"TMPDIR", at("tmp")}}});
  }
  void make_shards(const std::string& input = "in") {
    ASSERT_EQ(run({"shard", input, "--count", "2", "-o", "m"}).code, 0);
  }
};

using ArchiveInputTest = TarTest;

TEST_F(ArchiveInputTest, has_the_outputs_of_a_folder_with_its_files) {
  ASSERT_EQ(run({"run", "in", "-o", "whole", "-k", "2"}).code, 0);
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  EXPECT_EQ(json(run({"run", "in.tar", "-o", "out", "-k", "2", "--json"})).at("done"), 4);
  expect_same_files("out", "whole");
  EXPECT_EQ(json(run({"run", "in.tar", "-o", "out", "-k", "2", "--json"})).at("skipped"), 4);
}

TEST_F(ArchiveInputTest, is_reprocessed_after_it_has_changed) {
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  ASSERT_EQ(run({"run", "in.tar", "-o", "out", "-k", "2"}).code, 0);
  write("in/a.png", encoded("png", 16, 16));
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar", "--overwrite"}).code, 0);
  ASSERT_EQ(run({"run", "in.tar", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_EQ(decode("out/a.png").shape().rows, 16);
}

TEST_F(ArchiveInputTest, costs_only_its_hostile_members) {
  const std::string image = text("in/a.png");
  write("in.tar", tar_file("/etc/1.png", image) + tar_file("../2.png", image) +
                      tar_header({.name = "3.png", .type = '2', .link_target = "/etc/passwd"}) +
                      tar_header({.name = "4.png", .type = '3'}) + tar_file("good.png", image) +
                      tar_file("5.png", image).substr(0, 700));
  const ProcessResult result = run({"run", "in.tar", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(files("out"), ElementsAre("good.png"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("in.tar: the member /etc/1.png cannot be read: its name in the "
                              "archive is an absolute path"),
                    HasSubstr("the member ../2.png cannot be read: its name in the archive has .."),
                    HasSubstr("in.tar/3.png: is a link in the archive"),
                    HasSubstr("in.tar/4.png: is a device or FIFO in the archive"),
                    HasSubstr("in.tar/5.png: is truncated"),
                    HasSubstr("in.tar: the archive is damaged or truncated")));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 done, 4 failed"));
  EXPECT_FALSE(fs::exists(at("2.png")));

  // A failure ends with its reason.
  write("in.tar", tar_file("good.png", image) + tar_end());
  EXPECT_EQ(run({"run", "in.tar", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 done, 0 failed"));
}

TEST_F(ArchiveInputTest, keeps_the_outputs_of_members_from_being_pruned) {
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  ASSERT_EQ(run({"run", "in.tar", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("0 files removed"));
  fs::remove(at("in/a.png"));
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar", "--overwrite"}).code, 0);
  EXPECT_THAT(run({"prune", "out", "--yes"}).out, HasSubstr("1 file removed"));
  EXPECT_THAT(files("out"), ElementsAre("b.png", "deep/c.png", "deep/d.png"));
}

TEST_F(ArchiveInputTest, is_inspected_member_by_member) {
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  EXPECT_EQ(run({"inspect", "in.tar/deep/c.png"}).code, 0);
  const ProcessResult missing = run({"inspect", "in.tar/none.png"});
  EXPECT_EQ(missing.code, int(ExitCode::no_input));
  EXPECT_THAT(missing.err, HasSubstr("in.tar/none.png: "));
}

using PackTest = TarTest;

TEST_F(PackTest, is_undone_by_unpack) {
  write("in/deep/c.json", "{}");
  write("in/.hidden", "x");
  const ProcessResult packed = run({"pack", "in", "-o", "p/in.tar", "--files", "3"});
  EXPECT_EQ(packed.code, 0);
  EXPECT_THAT(packed.err, HasSubstr("left out, because hidden, links or no files: 1"));
  EXPECT_THAT(files("p"),
              ElementsAre("in-000001.idx", "in-000001.tar", "in-000002.idx", "in-000002.tar"));
  EXPECT_THAT(text("p/in-000001.idx"), AllOf(HasSubstr("v1.2 3\n"), HasSubstr("deep/c.png")))
      << "the files of a sample are together";
  EXPECT_EQ(json(run({"unpack", "p/in-000001.tar", "p/in-000002.tar", "-o", "back", "--json"}))
                .at("files"),
            5);
  fs::remove(at("in/.hidden"));
  expect_same_files("back", "in");
  EXPECT_EQ(run({"unpack", "p/in-000001.tar", "-o", "back"}).code, 0) << "equal files are kept";
}

TEST_F(PackTest, does_not_replace_an_archive_with_other_content) {
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  EXPECT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0) << "it is the same";
  const std::string before = text("in.tar"), index = text("in.idx");
  fs::remove(at("in/a.png"));
  const ProcessResult result = run({"pack", "in", "-o", "in.tar"});
  EXPECT_EQ(result.code, int(ExitCode::cannot_create));
  EXPECT_THAT(result.err, HasSubstr("in.tar exists with other content and is not replaced"));
  EXPECT_TRUE(text("in.tar") == before);
  EXPECT_EQ(text("in.idx"), index);
  EXPECT_THAT(files(""), Not(::testing::Contains(HasSubstr(".tmp"))));
}

TEST_F(PackTest, tells_of_archives_of_an_earlier_call) {
  ASSERT_EQ(run({"pack", "in", "-o", "p/in.tar", "--files", "1"}).code, 0);
  const ProcessResult result = run({"pack", "in", "-o", "p/in.tar", "--files", "2", "--overwrite"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(result.err, HasSubstr("p/in-000003.tar: is of an earlier call"));
}

TEST_F(PackTest, refuses_an_archive_in_its_folder) {
  EXPECT_EQ(run({"pack", "in", "-o", "in/in.tar"}).code, int(ExitCode::usage));
}

using UnpackTest = TarTest;

TEST_F(UnpackTest, writes_nothing_outside_of_its_folder_and_replaces_nothing) {
  write("a.tar", tar_file("../escaped", "x") + tar_file("/tmp/eckart-escaped", "x") +
                     tar_header({.name = "link", .type = '2', .link_target = ".."}) +
                     tar_file("link/escaped", "x") + tar_file("mine", "theirs") +
                     tar_file(".eckart/shards/evil/manifest.json", "{}") + tar_file("good", "x") +
                     tar_end());
  write("out/mine", "mine");
  const ProcessResult result = run({"unpack", "a.tar", "-o", "out"});
  EXPECT_EQ(result.code, int(ExitCode::some_failed));
  EXPECT_THAT(files("out"), ElementsAre("good", "link/escaped", "mine"));
  EXPECT_EQ(text("out/mine"), "mine");
  EXPECT_FALSE(fs::exists(at("escaped")));
  EXPECT_FALSE(fs::exists("/tmp/eckart-escaped"));
  EXPECT_FALSE(fs::exists(at("out/.eckart")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("a.tar/../escaped: its name in the archive has .."),
                                HasSubstr("out/mine exists with other content")));
}

using PackedShardTest = TarTest;

TEST_F(PackedShardTest, has_the_outputs_of_a_run_in_the_order_of_the_manifest) {
  ASSERT_EQ(run({"run", "in", "-o", "whole", "-k", "2"}).code, 0);
  make_shards();
  for (const char* shard : {"1/2", "2/2"}) {
    const ProcessResult result = run_packed(shard);
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_THAT(files("out"), ElementsAre("m-000001.idx", "m-000001.report.jsonl", "m-000001.tar",
                                        "m-000002.idx", "m-000002.report.jsonl", "m-000002.tar"));
  ASSERT_EQ(run({"unpack", "out/m-000001.tar", "out/m-000002.tar", "-o", "back"}).code, 0);
  expect_same_files("back", "whole");
  EXPECT_TRUE(fs::is_empty(at("tmp")));
  const nlohmann::json line = nlohmann::json::parse(
      text("out/m-000001.report.jsonl").substr(0, text("out/m-000001.report.jsonl").find('\n')));
  EXPECT_EQ(below_folder(line.at("output")), "out/m-000001.tar/a.png");
  EXPECT_EQ(below_folder(line.at("input")), "in/a.png");
}

TEST_F(PackedShardTest, keeps_the_order_of_an_archive) {
  write("in.tar", tar_file("z.png", text("in/a.png")) + tar_file("m.png", text("in/a.png")) +
                      tar_file("a.png", text("in/a.png")) + tar_file("b.png", text("in/a.png")) +
                      tar_end());
  make_shards("in.tar");
  ASSERT_EQ(run_packed("1/2").code, 0);
  const std::string index = text("out/m-000001.idx");
  EXPECT_LT(index.find("z.png"), index.find("m.png"));
  EXPECT_EQ(index.find("a.png"), std::string::npos);
}

TEST_F(PackedShardTest, is_done_once) {
  make_shards();
  ASSERT_EQ(run_packed("1/2").code, 0);
  const auto time = fs::last_write_time(at("out/m-000001.tar"));
  const ProcessResult again = run_packed("1/2");
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("m-000001.tar is finished: 2 images done, 0 failed"));
  fs::remove_all(at("out/.eckart"));  // a process that was killed after it published the archive
  EXPECT_EQ(run_packed("1/2").code, 0);
  EXPECT_EQ(fs::last_write_time(at("out/m-000001.tar")), time) << "it was equal, so it was kept";
}

TEST_F(PackedShardTest, is_made_again_with_other_settings_only_if_told_to) {
  make_shards();
  ASSERT_EQ(run_packed("1/2").code, 0);
  const std::string before = text("out/m-000001.tar");
  const ProcessResult refused = run_packed("1/2", {}, "1");
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("processed with other settings (rank 2 -> 1)"));
  EXPECT_TRUE(text("out/m-000001.tar") == before);
  ASSERT_EQ(run_packed("2/2", {"--reprocess"}, "1").code, 0);
  EXPECT_THAT(run_packed("1/2", {}, "1").err, HasSubstr("was made with other settings"));
  const ProcessResult as_before = run_packed("1/2");
  EXPECT_EQ(as_before.code, int(ExitCode::usage)) << "the other shard has newer settings";
  EXPECT_THAT(as_before.err, HasSubstr("processed with other settings (rank 1 -> 2)"));
  EXPECT_TRUE(text("out/m-000001.tar") == before);
  EXPECT_EQ(run_packed("1/2", {"--reprocess"}, "1").code, 0);
  EXPECT_TRUE(text("out/m-000001.tar") != before);
}

TEST_F(PackedShardTest, is_shown_with_its_failures) {
  write("in/b.png", "no image");
  make_shards();
  EXPECT_EQ(run_packed("1/2").code, int(ExitCode::some_failed));
  EXPECT_EQ(run_packed("2/2").code, 0);
  EXPECT_EQ(run_packed("1/2").code, int(ExitCode::some_failed)) << "its images are not tried again";
  const ProcessResult status = run({"status", "out"});
  EXPECT_THAT(status.out,
              AllOf(HasSubstr("out: 3 done, 1 failed"), HasSubstr("2 of 2 shards finished"),
                    HasSubstr("b.png: "), HasSubstr("the outputs are in archives")));
}

/// As of a process that was killed before it recorded the archive, on another kind of machine.
TEST_F(PackedShardTest, keeps_an_archive_with_equal_pixels) {
  make_shards();
  ASSERT_EQ(run_packed("1/2").code, 0);
  const std::string other = text("out/m-000001.tar");
  fs::remove_all(at("out"));
  ASSERT_EQ(run_packed("1/2", {"--set", "output.stamp=false"}).code, 0);
  const std::string before = text("out/m-000001.tar");
  ASSERT_TRUE(before != other);
  fs::remove_all(at("out/.eckart"));
  const ProcessResult again = run_packed("1/2");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(text("out/m-000001.tar") == before);
  EXPECT_THAT(run_packed("1/2").err, HasSubstr("is finished"));
}

TEST_F(PackedShardTest, does_not_replace_an_archive_with_other_pixels) {
  make_shards();
  const std::string other =
      tar_file("a.png", text("in/a.png")) + tar_file("b.png", text("in/b.png")) + tar_end();
  write("out/m-000001.tar", other);
  const ProcessResult result = run_packed("1/2");
  EXPECT_EQ(result.code, int(ExitCode::cannot_create));
  EXPECT_THAT(result.err, HasSubstr("m-000001.tar exists with other content"));
  EXPECT_TRUE(text("out/m-000001.tar") == other);
}

TEST_F(PackedShardTest, has_records_that_are_merged) {
  make_shards();
  for (const char* shard : {"1/2", "2/2"}) ASSERT_EQ(run_packed(shard).code, 0);
  EXPECT_THAT(run({"ledger", "merge", "out"}).out, HasSubstr("4 outputs imported"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("out: 4 done, 0 failed"));
  fs::remove_all(at("in"));
  const std::string pruned = run({"prune", "out", "--yes"}).out;
  EXPECT_THAT(pruned, AllOf(HasSubstr("0 files removed"), Not(HasSubstr("kept"))));
  EXPECT_EQ(run_packed("1/2").code, 0);
}

TEST_F(PackedShardTest, is_not_made_of_inputs_that_are_all_missing) {
  make_shards();
  fs::rename(at("in"), at("elsewhere"));
  const ProcessResult result = run_packed("1/2");
  EXPECT_EQ(result.code, int(ExitCode::temporary)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("none of the inputs of the shard exists here"));
  EXPECT_THAT(files("out"), IsEmpty());
  fs::rename(at("elsewhere"), at("in"));
  EXPECT_EQ(run_packed("1/2").code, 0);
}

/// As after a kill between both.
TEST_F(PackedShardTest, has_its_index_again_if_only_the_archive_was_published) {
  make_shards();
  ASSERT_EQ(run_packed("1/2").code, 0);
  const std::string index = text("out/m-000001.idx");
  fs::remove(at("out/m-000001.idx"));
  fs::remove_all(at("out/.eckart"));
  ASSERT_EQ(run_packed("1/2").code, 0);
  EXPECT_EQ(text("out/m-000001.idx"), index);
}

TEST_F(PackedShardTest, is_not_mixed_with_files) {
  make_shards();
  const std::vector<std::string> loose{"run", "--shard", "m:1/2", "-o", "out", "-k", "2"};
  ASSERT_EQ(run_packed("1/2").code, 0);
  const ProcessResult files_too = run(loose);
  EXPECT_EQ(files_too.code, int(ExitCode::usage));
  EXPECT_THAT(files_too.err, HasSubstr("the outputs of this shard are in an archive"));
  fs::remove_all(at("out"));
  ASSERT_EQ(run(loose).code, 0);
  const ProcessResult packed_too = run_packed("1/2");
  EXPECT_EQ(packed_too.code, int(ExitCode::usage));
  EXPECT_THAT(packed_too.err, HasSubstr("the outputs of this shard are files"));
  for (const auto& entry : fs::recursive_directory_iterator(at("out/.eckart/shards")))
    if (entry.path().filename() == "1.json") fs::remove(entry.path());  // as eckart slurm does
  EXPECT_EQ(run_packed("1/2").code, int(ExitCode::usage));
  EXPECT_EQ(run_packed("1/2", {"--reprocess"}).code, 0);
}

/// All jobs have a manifest of the same name.
TEST_F(PackedShardTest, has_a_name_of_its_own_for_each_job) {
  for (const char* input : {"in", "in/deep"}) {
    const ProcessResult job =
        run({"slurm", input, "-o", "out", "--tasks", "1", "--pack", "tar", "--print-script"});
    ASSERT_EQ(job.code, 0) << job.err;
  }
  for (const auto& folder : fs::directory_iterator(at("out/.eckart/shards"))) {
    if (!folder.is_directory()) continue;
    const std::string manifest = (folder.path() / "inputs.manifest").native();
    EXPECT_EQ(
        run({"run", "--shard", manifest + ":1/1", "-o", "out", "-k", "2", "--pack", "tar"}).code,
        0);
    EXPECT_TRUE(fs::exists(at("out") / (folder.path().filename().native() + "-000001.tar")));
  }
  EXPECT_EQ(files("out").size(), 6u);
}

TEST_F(PackedShardTest, is_not_begun_without_the_module_for_archives) {
  make_shards();
  fs::create_directory(at("alone"));
  fs::copy_file(ECKART_PROGRAM, at("alone/eckart"));
  const ProcessResult result =
      run({"run", "--shard", "m:1/2", "-o", "out", "-k", "2", "--pack", "tar", "-v"},
          {.program = at("alone/eckart"), .environment = {{"TMPDIR", at("tmp")}}});
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("cannot write tar archives"));
  EXPECT_THAT(result.err, Not(HasSubstr(".png")));  // no image was processed
}

TEST_F(PackedShardTest, needs_a_shard_and_files) {
  make_shards();
  EXPECT_THAT(run({"run", "in", "-o", "out", "--pack", "tar"}).err,
              HasSubstr("output.pack tar needs --shard"));
  EXPECT_THAT(run_packed("1/2", {"--dry-run"}).err, HasSubstr("--dry-run cannot be combined"));
  EXPECT_THAT(run_packed("1/2", {"--report", "r"}).err, HasSubstr("--report cannot be combined"));
  EXPECT_THAT(run_packed("1/2", {"--ledger", "l"}).err,
              HasSubstr("ledger.file cannot be combined"));
  EXPECT_FALSE(fs::exists(at("out")));
}

}  // namespace
}  // namespace eckart::test
