#include "app/requeue.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <string>

#include "core/error.hpp"
#include "io/quarantine.hpp"
#include "telemetry/reason_note.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/rooted.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
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
    telemetry::ReasonNote note;
    note.input = at("in/day/a.png");
    note.root = at("in");
    std::string reason = to_json(note, "1");
    if (!with_root) reason.replace(reason.find("root_uri"), 8, "older   ");
    io::TakenFile file = std::move(*io::take(io::rooted(at("in"), "day/a.png")));
    io::Quarantine(at("out"), {}).take(file, "day/a.png", reason);
  }
  /// Why it is not put back; "" where it is.
  std::string put_back() const {
    const auto requeued = requeue(at("out"), {});
    EXPECT_EQ(requeued.size(), 1u);
    return requeued.empty() ? "none" : requeued.front().why_not;
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  bool is_quarantined() const {
    return fs::exists(at("out/.eckart/quarantine/day/a.png")) &&
           fs::exists(at("out/.eckart/quarantine/day/a.png.reason.json"));
  }

  const test::TempFolder folder_;
};

TEST_F(RequeueTest, puts_a_file_back_and_makes_its_folder) {
  for (const bool with_root : {true, false}) {
    quarantine(with_root);
    fs::remove(at("in/day"));
    EXPECT_EQ(put_back(), "");
    EXPECT_TRUE(fs::exists(at("in/day/a.png")));
    EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/day")));
  }
}

TEST_F(RequeueTest, puts_nothing_through_a_link) {
  for (const bool with_root : {true, false}) {
    quarantine(with_root);
    fs::remove(at("in/day"));
    fs::create_directory_symlink(at("elsewhere"), at("in/day"));
    EXPECT_THAT(put_back(), HasSubstr("symbolic link"));
    EXPECT_TRUE(fs::is_empty(at("elsewhere")));
    EXPECT_TRUE(is_quarantined());
    fs::remove(at("in/day"));
    EXPECT_EQ(put_back(), "");
  }
}

TEST_F(RequeueTest, follows_a_link_to_the_watched_folder_itself_where_the_reason_names_it) {
  quarantine();
  fs::rename(at("in"), at("real"));
  fs::create_directory_symlink(at("real"), at("in"));
  EXPECT_EQ(put_back(), "");
  EXPECT_TRUE(fs::exists(at("real/day/a.png")));
  quarantine(false);
  EXPECT_THAT(put_back(), HasSubstr("symbolic link"));
}

TEST_F(RequeueTest, puts_nothing_where_the_reason_leads_out_of_the_watched_folder) {
  quarantine();
  telemetry::ReasonNote note;
  note.input = at("in/../elsewhere/a.png");
  note.root = at("in");
  std::ofstream(at("out/.eckart/quarantine/day/a.png.reason.json")) << to_json(note, "1");
  EXPECT_NE(put_back(), "");
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  EXPECT_TRUE(is_quarantined());
}

/// Another file of its name is in the quarantine.
TEST_F(RequeueTest, has_a_file_that_stays_tried_again_where_it_is) {
  quarantine();
  std::ofstream(at("in/day/a.png")) << "another";
  telemetry::ReasonNote note;
  note.input = at("in/day/a.png");
  note.root = at("in");
  io::Quarantine(at("out"), {}).note("day/a.png", to_json(note, "1"));
  const auto requeued = requeue(at("out"), {});
  ASSERT_EQ(requeued.size(), 2u);
  EXPECT_THAT(requeued[0].why_not, HasSubstr("another file"));
  EXPECT_EQ(requeued[1].why_not, "");
  EXPECT_FALSE(io::Quarantine(at("out"), {}).has_note("day/a.png"));
  EXPECT_TRUE(is_quarantined());
  fs::remove(at("in/day/a.png"));
  EXPECT_EQ(put_back(), "");
  EXPECT_EQ(fs::file_size(at("in/day/a.png")), 3u);
}

TEST_F(RequeueTest, replaces_nothing) {
  quarantine();
  std::ofstream(at("in/day/a.png")) << "another";
  EXPECT_THAT(put_back(), HasSubstr("another file"));
  EXPECT_EQ(fs::file_size(at("in/day/a.png")), 7u);
  EXPECT_TRUE(is_quarantined());
}

}  // namespace
}  // namespace eckart::app
