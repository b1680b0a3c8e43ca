// Tests a run into the output folder of an earlier run: completed outputs are skipped, incomplete
// ones are made again.
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/resume_fixture.hpp"

namespace eckart::test {
namespace {

TEST_F(ResumeTest, skips_what_is_done) {
  const auto before = fs::last_write_time(at("out/a.png"));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("0 done, 0 failed, 3 skipped"));
  EXPECT_EQ(fs::last_write_time(at("out/a.png")), before);
}

TEST_F(ResumeTest, recognizes_inputs_by_any_path) {
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
  const auto json = nlohmann::json::parse(
      run({"run", (at("in") / "../in").native(), "-o", at("out").native(), "-k", "2", "--json"})
          .out);
  EXPECT_EQ(json.at("skipped"), 3);
}

TEST_F(ResumeTest, reprocesses_changed_inputs) {
  write("in/a.png", encoded("png", 25, 16));
  EXPECT_EQ(rerun(), (RunCounts{1, 2, 0}));
  EXPECT_EQ(decode("out/a.png").shape().rows, 25);
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
}

TEST_F(ResumeTest, reprocesses_changed_input_of_same_file_size) {
  std::vector<std::byte> other;
  for (std::uint64_t seed = 1; other.size() != fs::file_size(at("in/a.png")); ++seed)
    other =
        codec::codec_for(ImageFormat::png)
            .encode(synth::synthesize(
                        {.kind = synth::SynthKind::texture, .rows = 24, .cols = 16, .seed = seed}),
                    {});
  const auto before = io::read_file(at("out/a.png"), 1);
  write("in/a.png", other);
  EXPECT_EQ(rerun(), (RunCounts{1, 2, 0}));
  EXPECT_NE(io::read_file(at("out/a.png"), 1), before);
}

TEST_F(ResumeTest, reprocesses_removed_or_truncated_outputs) {
  fs::remove(at("out/a.png"));
  fs::resize_file(at("out/b.png"), 10);
  EXPECT_EQ(rerun(), (RunCounts{2, 1, 0}));
  EXPECT_NO_THROW(decode("out/a.png"));
  EXPECT_NO_THROW(decode("out/b.png"));
}

TEST_F(ResumeTest, reprocesses_all_when_pixel_settings_change) {
  EXPECT_EQ(rerun({"--reprocess"}, "3"), (RunCounts{3, 0, 0}));
  EXPECT_EQ(rerun({"--solver", "gesvd", "--reprocess"}, "3"), (RunCounts{3, 0, 0}));
  EXPECT_EQ(rerun({"--solver", "gesvd", "--set", "cpu.lanes=1", "--set", "durability=none"}, "3"),
            (RunCounts{0, 3, 0}))
      << "which make none";
}

/// Outputs of two ranks have the same names, so the second run replaced those of the first.
TEST_F(ResumeTest, reprocesses_outputs_replaced_by_other_settings) {
  write("in/a.png", encoded("png", 40, 30));
  EXPECT_EQ(rerun({}, "2"), (RunCounts{1, 2, 0}));
  EXPECT_EQ(rerun({"--reprocess"}, "7"), (RunCounts{3, 0, 0}));
  EXPECT_EQ(rerun({"--reprocess"}, "2").done, 3);
}

TEST_F(ResumeTest, overwrites_when_requested) {
  EXPECT_EQ(rerun({"--overwrite"}), (RunCounts{3, 0, 0}));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
}

TEST_F(ResumeTest, retries_failed_inputs) {
  write("in/bad.png", "no image");
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 1}));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 1}));
  write("in/bad.png", encoded("png"));
  EXPECT_EQ(rerun(), (RunCounts{1, 3, 0}));
}

TEST_F(ResumeTest, is_reported_by_status) {
  write("in/bad.png", "no image");
  EXPECT_EQ(rerun({}, "2,3"), (RunCounts{3, 0, 1}));
  const ProcessResult result = run({"status", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("out: 3 done, 1 failed\n"), HasSubstr("\n0 unfinished\n")))
      << "of the run before as well";
  EXPECT_THAT(result.out, HasSubstr("       1 not an image\n"));
  EXPECT_THAT(result.out, HasSubstr("/in/bad.png: "));
  EXPECT_THAT(run({"status", "out", "--failures", "0"}).out, HasSubstr("and 1 more"));
  EXPECT_EQ(run({"status", "in"}).code, int(ExitCode::no_input));
}

TEST_F(ResumeTest, is_reported_by_status_with_pending_count) {
  write("in/bad.png", "no image");
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 1}));
  write_png("in/new.png");
  fs::remove(at("out/a.png"));
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("out: 3 done, 1 failed\n"), HasSubstr("\n2 unfinished\n")));
  EXPECT_EQ(rerun(), (RunCounts{2, 2, 1}));
  fs::remove_all(at("in"));
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("out: 4 done, 1 failed\n"), HasSubstr("\n0 unfinished\n")));
  EXPECT_EQ(run({"run", "--files-from", "-", "-o", "out"}, {.in = "in\n"}).code, 66);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("unfinished unknown: the inputs came from a"));
}

TEST_F(ResumeTest, is_reported_by_status_with_latest_result) {
  const auto good = io::read_file(at("in/a.png"), 1);
  fs::rename(at("in/a.png"), at("kept.png"));
  write("in/a.png", "no image");
  EXPECT_EQ(rerun(), (RunCounts{0, 2, 1}));
  EXPECT_THAT(run({"status", "out"}).out,
              AllOf(HasSubstr("2 done, 1 failed"), HasSubstr("\n0 unfinished")));
  fs::rename(at("kept.png"), at("in/a.png"));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("2 done, 1 failed"));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0})) << "it is as it was when it was done";
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("3 done, 0 failed"));
  write("in/bad.png", "no image");
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 1}));
  write("in/bad.png", good);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("\n1 unfinished")) << "it has been mended";
  fs::remove(at("in/bad.png"));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("3 done, 0 failed")) << "it is gone";
}

TEST_F(ResumeTest, forgets_failures_of_inputs_that_are_gone) {
  write("day1/bad.png", "no image");
  write("list", "tpyo.png\nday1\n");
  EXPECT_EQ(run({"run", "--files-from", "list", "-o", "out", "-k", "2"}).code,
            int(ExitCode::nothing_readable));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("3 done, 2 failed"));
  fs::rename(at("day1"), at("day2"));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0}));
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("3 done, 0 failed"));
}

/// The other input may be quarantined by a service that shares the ledger.
TEST_F(ResumeTest, keeps_failures_of_other_inputs) {
  const std::vector<std::string> shared{"--set", "ledger=l.db"};
  write("other/bad.png", "no image");
  write("in/bad.png", "no image");
  EXPECT_EQ(run({"run", "other", "-o", "other_out", "-k", "2", "--set", "ledger=l.db"}).code,
            int(ExitCode::nothing_readable));
  EXPECT_EQ(rerun(shared).failed, 1);
  fs::remove(at("other/bad.png"));
  fs::remove(at("in/bad.png"));
  EXPECT_EQ(rerun(shared).failed, 0);
  EXPECT_THAT(run({"status", "out", "--ledger", "l.db"}).out,
              AllOf(HasSubstr("1 failed"), HasSubstr("/other/bad.png: ")));
  write_png("other/good.png");
  EXPECT_EQ(run({"run", "other", "-o", "other_out", "-k", "2", "--set", "ledger=l.db"}).code, 0);
  EXPECT_THAT(run({"status", "out", "--ledger", "l.db"}).out, HasSubstr("0 failed"));
}

/// Two folders share a ledger. Their outputs have the same names and, by chance, the same sizes.
TEST_F(ResumeTest, ignores_outputs_of_another_folder_in_a_shared_ledger) {
  const std::vector<std::string> shared{"--set", "ledger=l.db"};
  EXPECT_EQ(rerun(shared, "2"), (RunCounts{3, 0, 0}));
  ASSERT_EQ(run({"run", "in", "-o", "other", "-k", "3", "--set", "ledger=l.db"}).code, 0);
  for (const char* name : {"a.png", "b.png", "deep/c.png"})
    fs::resize_file(at("out") / name, fs::file_size(at("other") / name));
  EXPECT_EQ(rerun(shared, "3"), (RunCounts{0, 0, 3})) << "nor for what it may replace";
}

TEST_F(ResumeTest, keeps_output_names_whatever_the_order_of_inputs) {
  const auto before = io::read_file(at("out/a.png"), 1);
  write("in/a.jpg", encoded("jpeg"));
  EXPECT_EQ(rerun(), (RunCounts{1, 3, 0})) << "a.jpg comes before a.png, whose result is there";
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before);
  EXPECT_THAT(files("out"), ElementsAre("a.jpg.png", "a.png", "b.png", "deep/c.png"));
  EXPECT_EQ(rerun(), (RunCounts{0, 4, 0}));
  fs::remove(at("in/a.png"));
  EXPECT_EQ(rerun(), (RunCounts{0, 3, 0})) << "nor does the other move to the name that is free";
  EXPECT_EQ(rerun({"--overwrite"}), (RunCounts{3, 0, 0}));
  EXPECT_THAT(files("out"), ElementsAre("a.jpg.png", "a.png", "b.png", "deep/c.png"));
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before);
}

TEST_F(ResumeTest, recognizes_moved_output_folder) {
  fs::rename(at("out"), at("moved"));
  const ProcessResult result = run({"run", "in", "-o", "moved", "-k", "2"});
  EXPECT_THAT(result.err, HasSubstr("0 done, 0 failed, 3 skipped"));
}

TEST_F(ResumeTest, reports_status_to_users_without_write_permission) {
  fs::permissions(at("out/.eckart"), fs::perms(0555));
  fs::permissions(at("."), fs::perms(0777));  // this folder has the captured output
  const ProcessResult result = run({"status", "out"}, {.as_nobody = geteuid() == 0});
  fs::permissions(at("out/.eckart"), fs::perms(0755));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("3 done"));
}

TEST_F(ResumeTest, is_predicted_by_dry_run) {
  fs::remove(at("out/b.png"));
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--dry-run"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("in/a.png -> out/a.png: same\n"));
  EXPECT_THAT(result.out,
              HasSubstr("in/b.png -> out/b.png: reprocessed (the output is missing)\n"));
  EXPECT_THAT(run({"run", "in", "-o", "new", "--dry-run"}).out, HasSubstr("in/a.png -> new/a.png"));
  EXPECT_FALSE(fs::exists(at("new")));
}

TEST_F(ResumeTest, processes_all_without_ledger) {
  EXPECT_EQ(rerun({"--set", "ledger=none"}), (RunCounts{3, 0, 0}));
}

TEST_F(ResumeTest, uses_configured_ledger_file) {
  EXPECT_EQ(rerun({"--set", "ledger=state/of/mine.db"}), (RunCounts{3, 0, 0}));
  EXPECT_EQ(rerun({"--set", "ledger=state/of/mine.db"}), (RunCounts{0, 3, 0}));
  EXPECT_TRUE(fs::exists(at("state/of/mine.db")));
}

TEST_F(ResumeTest, recognizes_own_outputs_beside_their_inputs) {
  write("photos/a.jpg", encoded("jpeg"));
  const auto once_more = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "photos/a.jpg", "-o", "photos", "-k", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  EXPECT_EQ(once_more({}).code, 0);
  EXPECT_THAT(once_more({}).err, HasSubstr("1 skipped"));
  EXPECT_THAT(once_more({"--overwrite"}).err, HasSubstr("1 done"));
  EXPECT_THAT(run({"status", "photos"}).out, HasSubstr("1 done, 0 failed"));
  write_png("photos/a.png");  // a file of the user
  EXPECT_THAT(once_more({}).err, HasSubstr("photos/a.png already exists"));
}

TEST_F(ResumeTest, clears_failure_of_a_folder_once_readable) {
  write("list", "late\n");
  EXPECT_EQ(run({"run", "in", "--files-from", "list", "-o", "out", "-k", "2"}).code, 3);
  write_png("late/d.png");
  EXPECT_EQ(run({"run", "in", "--files-from", "list", "-o", "out", "-k", "2"}).code, 0);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("4 done, 0 failed"));
}

}  // namespace
}  // namespace eckart::test
