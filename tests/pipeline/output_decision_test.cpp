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

}  // namespace
}  // namespace eckart::test
