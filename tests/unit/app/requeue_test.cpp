#include "app/requeue.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "core/error.hpp"
#include "io/quarantine.hpp"
#include "io/quarantine_record.hpp"
#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// A bad file of in/day is in the quarantine of out.
class RequeueTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(at("in/day"));
    fs::create_directories(at("elsewhere"));
  }
  void quarantine(bool with_root = true) const {
    std::ofstream(at("in/day/a.png")) << "bad";
    io::QuarantineRecord note;
    note.input = at("in/day/a.png");
    note.root = at("in");
    note.real_root = io::RootPath(at("in")).real_path();
    std::string reason = to_json(note, "1");
    for (const std::string key : {"\"real_root_uri\"", "\"root_uri\""})
      if (!with_root) reason.replace(reason.find(key), key.size(), "\"older\"");
    io::ClaimedFile file = std::move(*io::claim(io::make_rooted_file(at("in"), "day/a.png")));
    io::Quarantine(at("out"), {}).add(file, "day/a.png", reason);
  }
  /// Returns why the file was not restored; "" if it was restored.
  std::string restore() const {
    const auto requeued = requeue(at("out"), {});
    EXPECT_EQ(requeued.size(), 1u);
    return requeued.empty() ? "none" : requeued.front().error;
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  /// Records that the input is done.
  void record_output() const {
    ledger::LedgerChanges changes;
    changes.done.push_back(
        {.output = "day/a.png", .input = at("in/day/a.png"), .settings = 1, .state = {}});
    ledger::Ledger(at("out/.eckart/ledger.db")).record(changes);
  }
  bool is_quarantined() const {
    return fs::exists(at("out/.eckart/quarantine/day/a.png")) &&
           fs::exists(at("out/.eckart/quarantine/day/a.png.record.json"));
  }

  const test::TempFolder folder_;
};

TEST_F(RequeueTest, restores_file_and_recreates_its_folder) {
  for (const bool with_root : {true, false}) {
    quarantine(with_root);
    fs::remove(at("in/day"));
    EXPECT_EQ(restore(), "");
    EXPECT_TRUE(fs::exists(at("in/day/a.png")));
    EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/day")));
  }
}

TEST_F(RequeueTest, follows_no_symlink) {
  for (const bool with_root : {true, false}) {
    quarantine(with_root);
    fs::remove(at("in/day"));
    fs::create_directory_symlink(at("elsewhere"), at("in/day"));
    EXPECT_THAT(restore(), HasSubstr("symbolic link"));
    EXPECT_TRUE(fs::is_empty(at("elsewhere")));
    EXPECT_TRUE(is_quarantined());
    fs::remove(at("in/day"));
    EXPECT_EQ(restore(), "");
  }
}

TEST_F(RequeueTest, does_not_follow_a_state_folder_that_is_a_link) {
  quarantine();
  fs::rename(at("out/.eckart"), at("elsewhere/state"));
  std::ofstream(at("elsewhere/state/requeue")) << "theirs";
  fs::create_directory_symlink(at("elsewhere/state"), at("out/.eckart"));
  EXPECT_THROW(requeue(at("out"), {}), FatalError);
  EXPECT_TRUE(is_quarantined());
  EXPECT_FALSE(consume_requeue_marker(at("out")));
  EXPECT_TRUE(fs::exists(at("elsewhere/state/requeue")));
}

/// A record of the size of a disk would take all memory.
TEST_F(RequeueTest, reads_no_record_that_is_huge_or_a_link) {
  quarantine();
  const fs::path record = at("out/.eckart/quarantine/day/a.png.record.json");
  const auto size = fs::file_size(record);
  fs::resize_file(record, std::uintmax_t(1) << 40);
  EXPECT_THAT(restore(), HasSubstr("does not name the original input"));
  fs::resize_file(record, size);
  fs::rename(record, at("elsewhere/record.json"));
  fs::create_symlink(at("elsewhere/record.json"), record);
  EXPECT_TRUE(requeue(at("out"), {}).empty());
  EXPECT_TRUE(fs::exists(at("elsewhere/record.json")));
}

TEST_F(RequeueTest, restores_to_the_folder_that_was_watched_through_a_symlink) {
  fs::rename(at("in"), at("real"));
  fs::create_directory_symlink(at("real"), at("in"));
  quarantine();
  fs::remove(at("in"));
  fs::create_directory_symlink(at("elsewhere"), at("in"));
  EXPECT_EQ(restore(), "");
  EXPECT_TRUE(fs::exists(at("real/day/a.png")));
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
}

TEST_F(RequeueTest, follows_no_symlink_if_the_record_is_old) {
  fs::rename(at("in"), at("real"));
  fs::create_directory_symlink(at("real"), at("in"));
  quarantine(false);
  EXPECT_THAT(restore(), HasSubstr("symbolic link"));
}

TEST_F(RequeueTest, follows_no_symlink_in_the_place_of_the_watched_folder) {
  quarantine();
  fs::rename(at("in"), at("moved"));
  fs::create_directory_symlink(at("elsewhere"), at("in"));
  EXPECT_THAT(restore(), HasSubstr("symbolic link"));
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  EXPECT_TRUE(is_quarantined());
}

TEST_F(RequeueTest, rejects_record_that_leads_out_of_the_watched_folder) {
  quarantine();
  io::QuarantineRecord note;
  note.input = at("in/../elsewhere/a.png");
  note.root = at("in");
  std::ofstream(at("out/.eckart/quarantine/day/a.png.record.json")) << to_json(note, "1");
  EXPECT_NE(restore(), "");
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  EXPECT_TRUE(is_quarantined());
}

/// Another file with the same name is in the quarantine.
TEST_F(RequeueTest, retries_input_kept_in_place) {
  quarantine();
  std::ofstream(at("in/day/a.png")) << "another";
  io::QuarantineRecord note;
  note.input = at("in/day/a.png");
  note.root = at("in");
  io::Quarantine(at("out"), {}).add_kept_record("day/a.png", to_json(note, "1"));
  const auto requeued = requeue(at("out"), {});
  ASSERT_EQ(requeued.size(), 2u);
  EXPECT_THAT(requeued[0].error, HasSubstr("a different file"));
  EXPECT_EQ(requeued[1].error, "");
  EXPECT_FALSE(io::Quarantine(at("out"), {}).has_kept_record("day/a.png"));
  EXPECT_TRUE(is_quarantined());
  fs::remove(at("in/day/a.png"));
  EXPECT_EQ(restore(), "");
  EXPECT_EQ(fs::file_size(at("in/day/a.png")), 3u);
}

TEST_F(RequeueTest, says_so_if_the_service_cannot_be_told) {
  quarantine();
  fs::create_directories(at("out/.eckart/requeue/folder"));
  try {
    restore();
    FAIL() << "must throw";
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(".eckart/requeue"), HasSubstr("was not told")));
  }
  EXPECT_EQ(fs::file_size(at("in/day/a.png")), 3u) << "it is back";
}

/// The older file would replace the outputs of the later one.
TEST_F(RequeueTest, leaves_a_file_whose_later_version_is_done_unless_it_is_named) {
  quarantine();
  record_output();
  EXPECT_THAT(restore(), HasSubstr("a later file of this name is done"));
  EXPECT_TRUE(is_quarantined());
  const auto named = requeue(at("out"), {"a.png"});
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named.front().error, "");
  EXPECT_TRUE(fs::exists(at("in/day/a.png")));
}

TEST_F(RequeueTest, restores_a_file_whose_earlier_version_is_done) {
  quarantine();
  record_output();
  ledger::LedgerChanges later;
  later.failed.push_back({at("in/day/a.png"), {}, FailureReason::corrupt, "why"});
  ledger::Ledger(at("out/.eckart/ledger.db")).record(later);
  EXPECT_EQ(restore(), "");
}

/// By its name in the quarantine, its path, or that of the input.
TEST_F(RequeueTest, restores_only_the_inputs_that_are_named) {
  const fs::path quarantine_folder = at("out/.eckart/quarantine");
  for (const std::string& name :
       {std::string("a.png"), std::string("day/a.png"), (quarantine_folder / "day/a.png").native(),
        at("in/day/a.png").native()}) {
    quarantine();
    std::ofstream(at("in/b.png")) << "bad";
    io::QuarantineRecord note;
    note.input = at("in/b.png");
    note.root = note.real_root = at("in");
    io::ClaimedFile other = std::move(*io::claim(io::make_rooted_file(at("in"), "b.png")));
    io::Quarantine(at("out"), {}).add(other, "b.png", to_json(note, "1"));
    const auto requeued = requeue(at("out"), {name});
    ASSERT_EQ(requeued.size(), 1u) << name;
    EXPECT_EQ(requeued.front().input, at("in/day/a.png"));
    EXPECT_EQ(requeued.front().error, "");
    EXPECT_FALSE(fs::exists(at("in/b.png"))) << name;
    EXPECT_TRUE(consume_requeue_marker(at("out"))) << "for the service";
    EXPECT_FALSE(consume_requeue_marker(at("out"))) << "once";
    EXPECT_EQ(requeue(at("out"), {"b.png"}).size(), 1u);
    consume_requeue_marker(at("out"));
    fs::remove(at("in/b.png"));
  }
}

TEST_F(RequeueTest, names_what_is_not_in_the_quarantine) {
  quarantine();
  const auto error = [&](const std::vector<std::string>& names) -> std::string {
    try {
      requeue(at("out"), names);
    } catch (const FatalError& fatal) {
      EXPECT_EQ(fatal.code(), ExitCode::no_input);
      return fatal.what();
    }
    return "none";
  };
  EXPECT_EQ(error({"a.png", "c.png"}),
            "c.png: not found in the quarantine " + at("out/.eckart/quarantine").native());
  EXPECT_TRUE(is_quarantined()) << "nothing was restored";
  EXPECT_FALSE(consume_requeue_marker(at("out")));
  try {
    requeue(at("in"), {});
    FAIL();
  } catch (const FatalError& fatal) {
    EXPECT_EQ(fatal.what(), at("in").native() + ": not an output folder of eckart");
  }
}

TEST_F(RequeueTest, tells_the_service_only_if_an_input_is_back) {
  fs::create_directories(at("out/.eckart"));
  EXPECT_TRUE(requeue(at("out"), {}).empty()) << "there is no quarantine";
  EXPECT_FALSE(fs::exists(at("out/.eckart/requeue")));
  quarantine();
  std::ofstream(at("in/day/a.png")) << "another";
  restore();
  EXPECT_FALSE(fs::exists(at("out/.eckart/requeue")));
}

TEST_F(RequeueTest, forgets_the_record_of_an_input_that_was_kept_and_deleted) {
  io::QuarantineRecord note;
  note.input = at("in/day/gone.png");
  note.root = at("in");
  io::Quarantine(at("out"), {}).add_kept_record("day/gone.png", to_json(note, "1"));
  EXPECT_EQ(restore(), "the input no longer exists");
  EXPECT_FALSE(io::Quarantine(at("out"), {}).has_kept_record("day/gone.png"));
}

TEST(RequeueCommand, is_what_a_shell_runs) {
  EXPECT_EQ(requeue_command("out"), "eckart requeue out");
  EXPECT_EQ(requeue_command("my out", "a b.png"), "eckart requeue 'my out' 'a b.png'");
  EXPECT_EQ(requeue_command("-out"), "eckart requeue -- -out");
  EXPECT_EQ(requeue_command("out", "-a.png"), "eckart requeue -- out -a.png");
}

TEST_F(RequeueTest, overwrites_nothing) {
  quarantine();
  std::ofstream(at("in/day/a.png")) << "another";
  EXPECT_THAT(restore(), HasSubstr("a different file"));
  EXPECT_EQ(fs::file_size(at("in/day/a.png")), 7u);
  EXPECT_TRUE(is_quarantined());
}

}  // namespace
}  // namespace eckart::app
