// Tests decisions about existing files at the path of an output.
#include "pipeline/output_decision.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;

class OutputDecisionTest : public ::testing::Test {
 protected:
  static constexpr files::FileState kState{100, 5000000001, 7};

  pipeline::OutputAction kind() const {
    return pipeline::decide_output(requested_, known_, path_status_).action;
  }

  pipeline::RequestedOutput requested_{
      .input = {.path = "/in/a.png", .root_length = 4, .state = kState},
      .settings = 1,
      .on_change = pipeline::OnSettingsChange::refuse,
      .min_run = 0};
  pipeline::RecordedOutput known_{ledger::OutputEntry{.output = "a.png",
                                                      .input = "/in/a.png",
                                                      .settings = 1,
                                                      .state = kState,
                                                      .bytes = 50,
                                                      .run = 3}};
  pipeline::PathStatus path_status_{fs::file_type::regular, 50};
};

TEST_F(OutputDecisionTest, skips_an_unchanged_output) {
  EXPECT_EQ(kind(), pipeline::OutputAction::skip);
}

TEST_F(OutputDecisionTest, reprocesses_when_the_input_changed) {
  for (files::FileState changed :
       {files::FileState{101, 5000000001, 7}, files::FileState{100, 5000000002, 7},
        files::FileState{100, 6000000001, 7}}) {
    requested_.input.state = changed;
    EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  }
}

/// A modified output may have its old size.
TEST_F(OutputDecisionTest, does_not_replace_a_modified_output) {
  constexpr std::int64_t kDay_ns = 86400LL * 1000000000;
  constexpr std::int64_t kCreated_ns = kDay_ns + 3123456789;
  known_.entry->output_mtime_ns = path_status_.mtime_ns = kCreated_ns;
  requested_.input.state.size = 101;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  for (const std::int64_t kept : std::initializer_list<std::int64_t>{
           3123456700, 3123456000, 3120000000, 3000000000, 4000000000, 2000000000}) {
    path_status_.mtime_ns = kDay_ns + kept;
    EXPECT_EQ(kind(), pipeline::OutputAction::reprocess)
        << "as coarse as times of files are kept: " << kept;
  }
  for (const std::int64_t time :
       {std::int64_t(0), 2 * kDay_ns, kCreated_ns + 1, kCreated_ns + 1000000000,
        kDay_ns + 5000000000, kCreated_ns - 1900000000, kDay_ns + 1000000000}) {
    path_status_.mtime_ns = time;
    EXPECT_EQ(kind(), pipeline::OutputAction::compare);
    EXPECT_TRUE(pipeline::decide_output(requested_, known_, path_status_).is_modified_output);
  }
  requested_.min_run = 4;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess) << "--overwrite";
  requested_.min_run = 0;
  requested_.input.state.size = 100;
  EXPECT_EQ(kind(), pipeline::OutputAction::skip) << "nothing is to be replaced";
  path_status_.mtime_ns = 0;
  known_.entry->output_mtime_ns = 0;
  requested_.input.state.size = 101;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess) << "its time was not recorded";
}

/// The difference does not fit into a signed 64-bit integer.
TEST_F(OutputDecisionTest, compares_times_that_are_centuries_apart) {
  requested_.input.state.size = 101;
  known_.entry->output_mtime_ns = std::numeric_limits<std::int64_t>::max();
  path_status_.mtime_ns = -9223372036000000000;
  EXPECT_EQ(kind(), pipeline::OutputAction::compare);
  std::swap(known_.entry->output_mtime_ns, path_status_.mtime_ns);
  EXPECT_EQ(kind(), pipeline::OutputAction::compare);
}

TEST_F(OutputDecisionTest, follows_on_change_for_other_settings) {
  requested_.settings = 2;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject);
  EXPECT_TRUE(pipeline::decide_output(requested_, known_, path_status_).has_other_settings);
  requested_.on_change = pipeline::OnSettingsChange::keep;
  EXPECT_EQ(kind(), pipeline::OutputAction::skip);
  requested_.on_change = pipeline::OnSettingsChange::reprocess;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  requested_.on_change = pipeline::OnSettingsChange::keep;
  requested_.input.state.size = 101;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess) << "a changed input is done again";
}

TEST_F(OutputDecisionTest, compares_a_file_the_ledger_does_not_know) {
  path_status_.bytes = 51;
  EXPECT_EQ(kind(), pipeline::OutputAction::compare);
  EXPECT_TRUE(pipeline::decide_output(requested_, known_, path_status_).is_modified_output);
  known_.entry.reset();
  EXPECT_EQ(kind(), pipeline::OutputAction::compare);
  EXPECT_FALSE(pipeline::decide_output(requested_, known_, path_status_).is_modified_output);
}

TEST_F(OutputDecisionTest, rejects_foreign_files_and_non_files) {
  path_status_.type = fs::file_type::unknown;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject);
  path_status_.type = fs::file_type::regular;
  known_.entry->input = "/other/a.png";
  known_.entry->state.mtime_ns += 1;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject);
}

TEST_F(OutputDecisionTest, reprocesses_all_but_its_own_outputs_with_overwrite) {
  requested_.min_run = 4;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  known_.entry->run = 4;
  EXPECT_EQ(kind(), pipeline::OutputAction::skip);
  known_.entry.reset();
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  path_status_.type = fs::file_type::directory;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject);
}

TEST_F(OutputDecisionTest, creates_or_reprocesses_a_missing_output) {
  path_status_ = {};
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  known_.entry.reset();
  EXPECT_EQ(kind(), pipeline::OutputAction::create);
}

/// A run was killed after the rename and before the output was recorded.
TEST_F(OutputDecisionTest, reprocesses_an_output_with_only_a_publish_intent) {
  known_.is_intent = true;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  requested_.settings = 2;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject) << "no setting replaces a result unasked";
  requested_.on_change = pipeline::OnSettingsChange::keep;
  EXPECT_EQ(kind(), pipeline::OutputAction::skip);
  requested_.on_change = pipeline::OnSettingsChange::reprocess;
  EXPECT_EQ(kind(), pipeline::OutputAction::reprocess);
  known_.entry->input = "/other/a.png";
  known_.entry->state.size = 1;
  EXPECT_EQ(kind(), pipeline::OutputAction::reject);
}

TEST_F(OutputDecisionTest, rejects_a_path_with_a_symlink_loop) {
  path_status_ = {.type = fs::file_type::none, .error = ELOOP};
  requested_.min_run = 4;
  const pipeline::OutputDecision decision =
      pipeline::decide_output(requested_, known_, path_status_);
  EXPECT_EQ(decision.action, pipeline::OutputAction::reject);
  EXPECT_THAT(decision.explanation, testing::StartsWith("it cannot be examined: "));
  EXPECT_FALSE(decision.may_be_replaced);
}

/// A disk failure must not count as a failure of the image.
TEST(PathStatus, is_an_environment_error_when_the_disk_fails) {
  for (const int error : {EIO, ESTALE, ENOTCONN, ETIMEDOUT, ENOMEM, EHOSTUNREACH, EINTR, EAGAIN})
    EXPECT_THROW(
        pipeline::check_status_available("a.png", {.type = fs::file_type::none, .error = error}),
        EnvironmentError)
        << error;
}

TEST(PathStatus, is_a_write_failure_without_permission) {
  for (const int error : {EACCES, EPERM}) {
    try {
      pipeline::check_status_available("a.png", {.type = fs::file_type::none, .error = error});
      ADD_FAILURE() << error;
    } catch (const ItemError& failure) {
      EXPECT_EQ(failure.reason(), FailureReason::not_written);
    }
  }
}

TEST(PathStatus, leaves_a_symlink_loop_to_the_decision) {
  EXPECT_NO_THROW(
      pipeline::check_status_available("a.png", {.type = fs::file_type::none, .error = ELOOP}));
  EXPECT_NO_THROW(pipeline::check_status_available("a.png", {}));
}

/// In the ledger, 0 means that the time is unknown.
TEST(PathStatus, has_the_recorded_time_of_a_file_from_the_start_of_1970) {
  const TempFolder folder;
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "precious";
  constexpr timespec kTimes[2] = {};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), kTimes, 0), 0);
  EXPECT_EQ(pipeline::stat_path(file).mtime_ns, 1);
}

TEST(PathStatus, is_not_found_only_for_a_missing_path) {
  const TempFolder folder;
  const fs::path file = folder.path() / "file", link = folder.path() / "link";
  std::ofstream(file) << "precious";
  fs::create_symlink("link", link);
  EXPECT_EQ(pipeline::stat_path(folder.path() / "none").type, fs::file_type::not_found);
  EXPECT_EQ(pipeline::stat_path(folder.path() / "no folder/none").type, fs::file_type::not_found);
  EXPECT_EQ(pipeline::stat_path(folder.path() / std::string(300, 'x')).type,
            fs::file_type::not_found);
  EXPECT_EQ(pipeline::stat_path(file / "below").non_directory_parent, file);
  const pipeline::PathStatus path_status = pipeline::stat_path(link / "below");
  EXPECT_EQ(path_status.type, fs::file_type::none);
  EXPECT_EQ(path_status.error, ELOOP);
}

/// What a user reads about a file that is in the way.
TEST(OutputCollision, tells_the_problem_and_a_way_out) {
  const auto message_of = [](const pipeline::OutputDecision& decision) {
    try {
      pipeline::throw_output_collision("out/a.png", decision);
    } catch (const ItemError& error) {
      EXPECT_EQ(error.reason(), FailureReason::output_collision);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string advice = "move the file, or set another output folder or output.name";
  pipeline::OutputDecision decision{pipeline::OutputAction::reject, "not in the ledger"};
  EXPECT_EQ(message_of(decision), "out/a.png already exists (not in the ledger): " + advice +
                                      "; a run with --overwrite replaces it");
  decision.has_other_settings = true;
  EXPECT_EQ(message_of(decision), "out/a.png already exists (not in the ledger): " + advice +
                                      "; a run with --reprocess reprocesses it");
  EXPECT_EQ(message_of({.action = pipeline::OutputAction::reject,
                        .explanation = "a directory",
                        .may_be_replaced = false}),
            "out/a.png cannot be written (a directory): " + advice);
}

TEST(OutputCollision, keeps_an_equal_file_and_replaces_only_what_may_be_replaced) {
  const TempFolder folder;
  const fs::path written = folder.path() / "written", output = folder.path() / "output";
  std::ofstream(written) << "whole result";
  const auto action_for = [&](const std::string& content, bool is_modified_output) {
    std::ofstream(output) << content;
    try {
      const pipeline::OutputDecision decision{.action = pipeline::OutputAction::compare,
                                              .is_modified_output = is_modified_output};
      return pipeline::resolve_collision(decision, output, written) == io::CollisionAction::keep
                 ? "keep"
                 : "replace";
    } catch (const ItemError&) {
      return "refuse";
    }
  };
  for (const bool is_modified_output : {false, true}) {
    EXPECT_STREQ(action_for("whole result", is_modified_output), "keep");
    EXPECT_STREQ(action_for("other", is_modified_output), "refuse");
    EXPECT_STREQ(action_for("whole", is_modified_output),
                 is_modified_output ? "replace" : "refuse");
  }
  std::ofstream(output) << "whole result";
  EXPECT_EQ(
      pipeline::resolve_collision({.action = pipeline::OutputAction::reprocess}, output, written),
      io::CollisionAction::replace);
  EXPECT_THROW(
      pipeline::resolve_collision({.action = pipeline::OutputAction::reject}, output, written),
      ItemError);
}

TEST_F(OutputDecisionTest, explains_itself) {
  const auto explanation = [&] {
    return pipeline::decide_output(requested_, known_, path_status_).explanation;
  };
  EXPECT_EQ(explanation(), "already done");
  known_.entry->report = "{}";
  EXPECT_EQ(pipeline::decide_output(requested_, known_, path_status_).report, "{}");
  path_status_.bytes = 1234;
  EXPECT_EQ(explanation(), "modified after it was written: 1,234 bytes, not 50");
  path_status_.bytes = 50;
  requested_.settings = 2;
  EXPECT_EQ(explanation(), "made with different settings");
  requested_.settings = 1;
  requested_.input.state.size = 101;
  EXPECT_EQ(explanation(), "the input changed");
  known_.entry->output_mtime_ns = path_status_.mtime_ns = 5;
  path_status_.mtime_ns = 7;
  EXPECT_EQ(explanation(), "modified after it was written; the input changed");
  known_.is_intent = true;
  EXPECT_EQ(explanation(), "the input changed") << "of a killed run";
  known_ = {};
  EXPECT_EQ(explanation(), "not in the ledger");
  path_status_ = {};
  EXPECT_EQ(explanation(), "");
  path_status_.non_directory_parent = "/out/a";
  EXPECT_EQ(explanation(), "/out/a is not a directory");
  EXPECT_FALSE(pipeline::decide_output(requested_, known_, path_status_).may_be_replaced);
  path_status_ = {fs::file_type::directory};
  EXPECT_EQ(explanation(), "a directory");
  EXPECT_FALSE(pipeline::decide_output(requested_, known_, path_status_).may_be_replaced);
  path_status_ = {.type = fs::file_type::none, .error = ELOOP};
  EXPECT_EQ(explanation(), "it cannot be examined: Too many levels of symbolic links");
}

TEST_F(OutputDecisionTest, calls_an_output_of_another_input_its_output) {
  known_.entry->input = "/other/a.png";
  for (const std::int64_t size : {100, 1}) {  // it may be the same file, or is another one
    known_.entry->state.size = size;
    const pipeline::OutputDecision decision =
        pipeline::decide_output(requested_, known_, path_status_);
    EXPECT_EQ(decision.action, pipeline::OutputAction::reject);
    EXPECT_EQ(decision.explanation, "the output of /other/a.png");
  }
}

/// Other programs may have put a link there.
TEST(PathStatus, follows_links_to_regular_files_only) {
  const TempFolder folder;
  const fs::path file = folder.path() / "file", link = folder.path() / "link";
  std::ofstream(file) << "precious";
  const auto status_of = [&](const fs::path& target) {
    fs::remove(link);
    fs::create_symlink(target, link);
    return pipeline::stat_path(link);
  };
  EXPECT_EQ(status_of(file).type, fs::file_type::regular);
  EXPECT_EQ(status_of(file).bytes, 8);
  EXPECT_EQ(status_of(folder.path()).type, fs::file_type::unknown);
  for (const fs::path& dangling :
       {fs::path("none"), file / "below", fs::path("link"), fs::path(std::string(300, 'x'))})
    EXPECT_EQ(status_of(dangling).type, fs::file_type::unknown) << dangling;
  EXPECT_EQ(pipeline::stat_path(folder.path()).type, fs::file_type::directory);
  EXPECT_EQ(pipeline::stat_path(file / "a" / "b").non_directory_parent, file);
}

TEST_F(OutputDecisionTest, matches_inputs_by_path_state_and_content) {
  ledger::OutputEntry& known = *known_.entry;
  pipeline::InputIdentity& input = requested_.input;
  const auto match = [&] { return pipeline::match_input(known, input); };
  using enum pipeline::InputMatch;
  EXPECT_EQ(match(), same);
  known.content_hash = "1";
  EXPECT_EQ(match(), same) << "the other hash is not known";
  input.content_hash = "2";
  EXPECT_EQ(match(), changed);
  input.content_hash = "1", input.state.size = 1;
  EXPECT_EQ(match(), same) << "the same content";
  input = {.path = "/new/a.png", .root_length = 5, .state = kState};
  EXPECT_EQ(match(), uncertain);
  input.content_hash = "1";
  EXPECT_EQ(match(), same);
  input.content_hash = "2";
  EXPECT_EQ(match(), different);
  known.content_hash.clear();
  EXPECT_EQ(match(), uncertain);
  input.original_paths = {"/in/a.png"};
  EXPECT_EQ(match(), same);
  input.original_paths.clear();
  known.input = "/in/xa.png";
  EXPECT_EQ(match(), different) << "another name";
}

TEST(RootLength, is_that_of_the_part_before_the_relative_path) {
  EXPECT_EQ(pipeline::root_length("/in/sub/a.png", "sub/a.png"), 4U);
  EXPECT_EQ(pipeline::root_length("/in/sub/a.png", "other/a.png"), 8U);
  EXPECT_EQ(pipeline::root_length("/in/xa.png", "a.png"), 4U);
}

TEST(MovedInput, has_the_bytes_of_its_old_path_if_that_exists) {
  const TempFolder folder;
  const fs::path old = folder.path() / "old", now = folder.path() / "new";
  std::ofstream(now) << "image";
  EXPECT_TRUE(pipeline::is_moved_or_copied(old, now, nullptr));
  EXPECT_TRUE(pipeline::is_moved_or_copied(now / "below", now, nullptr)) << "a file is there now";
  std::ofstream(old) << "image";
  EXPECT_TRUE(pipeline::is_moved_or_copied(old, now, nullptr));
  std::ofstream(old) << "other";
  EXPECT_FALSE(pipeline::is_moved_or_copied(old, now, nullptr));
}

}  // namespace
}  // namespace eckart::test
