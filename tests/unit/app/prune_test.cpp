#include "app/prune.hpp"

#include <gmock/gmock.h>

#include "core/error.hpp"
#include "io/folder_lock.hpp"
#include "tests/unit/app/recorded_outputs.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class PruneTest : public RecordedOutputsTest {
 protected:
  PruneRequest request(bool include_empty = false) const {
    return {.output = at("out"), .ledger = choice_, .include_empty = include_empty};
  }
  static std::vector<std::string> outputs_of(const std::vector<Orphan>& orphans) {
    std::vector<std::string> outputs;
    for (const Orphan& orphan : orphans) outputs.push_back(orphan.output);
    return outputs;
  }
  std::vector<std::string> removable(bool include_empty = false) const {
    return outputs_of(find_orphans(request(include_empty)).removable);
  }
  std::vector<std::string> prune_all(bool include_empty = false) const {
    std::vector<Orphan> removed;
    prune(request(include_empty), [&](const Orphan& orphan) { removed.push_back(orphan); });
    return outputs_of(removed);
  }
};

TEST_F(PruneTest, removes_outputs_of_deleted_inputs_and_their_entries) {
  write("in/kept.jpg");
  record({.done = {output("gone2.png", "in", "gone2.jpg"), output("kept.png", "in", "kept.jpg"),
                   output("gone1.png", "in", "gone1.jpg")},
          .failed = {},
          .cleared = {}});
  const Orphans found = find_orphans(request());
  EXPECT_THAT(outputs_of(found.removable), ElementsAre("gone1.png", "gone2.png"));
  EXPECT_EQ(found.removable[0].input, at("in/gone1.jpg").native());
  EXPECT_THAT(found.modified, IsEmpty());
  EXPECT_THAT(found.uncertain, IsEmpty());
  EXPECT_TRUE(fs::exists(at("out/gone1.png"))) << "only found";
  EXPECT_THAT(prune_all(), ElementsAre("gone1.png", "gone2.png"));
  EXPECT_FALSE(fs::exists(at("out/gone1.png")));
  EXPECT_TRUE(fs::exists(at("out/kept.png")));
  const auto ledger = ledger::Ledger::open_read_only(ledger_file(at("out"), choice_));
  EXPECT_FALSE(ledger->find("gone1.png"));
  EXPECT_TRUE(ledger->find("kept.png"));
  EXPECT_THAT(removable(), IsEmpty());
}

TEST_F(PruneTest, keeps_what_is_uncertain_or_was_modified) {
  write("in/kept.jpg");
  write("in/empty/later.txt");
  ledger::OutputEntry old = output("old.png", "in", "old.jpg"),
                      changed = output("changed.png", "in", "changed.jpg"),
                      touched = output("touched.png", "in", "touched.jpg");
  old.output_mtime_ns = 0;
  record({.done = {old, changed, touched, output("kept.png", "in", "kept.jpg"),
                   output("failed.png", "in", "failed.jpg"), output("e.png", "in", "empty/e.jpg"),
                   output("unmounted.png", "disk", "a.jpg"), output("lost.png", "in", "lost.jpg")},
          .failed = {{at("in/failed.jpg"), {}, FailureReason::corrupt, "why"}},
          .cleared = {}});
  write("out/changed.png", "other bytes");
  fs::last_write_time(at("out/touched.png"),
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::remove(at("out/lost.png"));
  const Orphans found = find_orphans(request());
  EXPECT_THAT(found.removable, IsEmpty());
  EXPECT_THAT(outputs_of(found.modified), ElementsAre("changed.png", "touched.png"));
  EXPECT_EQ(found.without_mtime, 1);
  EXPECT_THAT(found.uncertain,
              ElementsAre(Pair(at("disk").native() + "/", 1), Pair(at("in").native() + "/", 1)));
  EXPECT_THAT(prune_all(), IsEmpty());
  EXPECT_THAT(prune_all(true), ElementsAre("e.png")) << "its folder exists";
  for (const char* name : {"changed", "touched", "old", "kept", "failed", "unmounted"})
    EXPECT_TRUE(fs::exists(at("out") / (std::string(name) + ".png"))) << name;
}

TEST_F(PruneTest, removes_outputs_of_a_deleted_folder_only_if_asked_for) {
  fs::create_directories(at("in"));
  record({.done = {output("a.png", "in", "deleted/deep/a.jpg")}, .failed = {}, .cleared = {}});
  EXPECT_THAT(removable(), IsEmpty());
  EXPECT_THAT(removable(true), ElementsAre("a.png"));
  fs::remove(at("in"));
  EXPECT_THAT(removable(true), IsEmpty()) << "a disk may be missing";
  fs::create_directories(at("elsewhere"));
  fs::create_directory_symlink(at("elsewhere"), at("in"));
  EXPECT_THAT(removable(true), IsEmpty()) << "a link is no input folder";
}

/// The entry is of a copy that was deleted.
TEST_F(PruneTest, keeps_an_output_whose_input_may_be_below_another_folder) {
  for (const char* name : {"in/kept.jpg", "other/a.jpg", "other/kept.jpg"}) write(name);
  record({.done = {output("kept.png", "in", "kept.jpg"), output("a.png", "in", "a.jpg"),
                   output("o.png", "other", "o.jpg"), output("kept2.png", "other", "kept.jpg")},
          .failed = {},
          .cleared = {}});
  EXPECT_THAT(removable(), ElementsAre("o.png"));
  EXPECT_THAT(find_orphans(request()).uncertain, ElementsAre(Pair(at("in").native() + "/", 1)));
  fs::remove(at("other/a.jpg"));
  EXPECT_THAT(removable(), ElementsAre("a.png", "o.png"));
}

TEST_F(PruneTest, says_what_to_do_about_uncertain_outputs) {
  fs::create_directories(at("in"));
  EXPECT_EQ(uncertain_orphans_text(at("missing"), false),
            "it is missing. If it was moved, process it at its new place; if it was deleted, "
            "create it as an empty folder, and use eckart prune --include-empty");
  EXPECT_EQ(uncertain_orphans_text(at("in"), false),
            "a folder has no inputs left. If no disk is missing, use eckart prune --include-empty");
  EXPECT_EQ(uncertain_orphans_text(at("in"), true), "its inputs may exist elsewhere");
}

TEST_F(PruneTest, needs_a_ledger_and_no_other_process) {
  fs::create_directories(at("out"));
  try {
    prune_all();
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
    EXPECT_EQ(error.what(), at("out").native() + ": no ledger at " +
                                at("out/.eckart/ledger.db").native() +
                                ". Either eckart wrote nothing here, or it used another --ledger");
  }
  EXPECT_FALSE(fs::exists(at("out/.eckart"))) << "nothing is made";
  record({.done = {output("a.png", "in", "a.jpg")}, .failed = {}, .cleared = {}});
  const io::FolderLock other(at("out"));
  try {
    prune_all();
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::temporary);
  }
}

}  // namespace
}  // namespace eckart::app
