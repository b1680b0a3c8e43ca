// What stands at an output's place, and what becomes of it.
#include "pipeline/output_place.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "pipeline/resume.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

using Kind = OutputPlace::Kind;
namespace fs = std::filesystem;

class OutputPlaceTest : public ::testing::Test {
 protected:
  static constexpr FileState kState{100, 5000000001, 7};

  Kind kind() const { return judge(wanted_, known_, standing_).kind; }

  WantedOutput wanted_{.input = {.path = "/in/a.png", .root_size = 4, .state = kState},
                       .settings = 1,
                       .on_change = OnChange::refuse,
                       .first_run = 0};
  KnownOutput known_{ledger::Entry{.output = "a.png",
                                   .input = "/in/a.png",
                                   .settings = 1,
                                   .state = kState,
                                   .bytes = 50,
                                   .run = 3}};
  Standing standing_{fs::file_type::regular, 50};
};

TEST_F(OutputPlaceTest, is_the_same_where_all_is_as_it_was) { EXPECT_EQ(kind(), Kind::same); }

TEST_F(OutputPlaceTest, is_redone_where_anything_of_the_input_has_changed) {
  for (FileState changed : {FileState{101, 5000000001, 7}, FileState{100, 5000000002, 7},
                            FileState{100, 6000000001, 7}}) {
    wanted_.input.state = changed;
    EXPECT_EQ(kind(), Kind::redone);
  }
}

/// A retouched result may have the size that it had.
TEST_F(OutputPlaceTest, is_not_replaced_where_its_time_is_another) {
  constexpr std::int64_t kDay_ns = 86400LL * 1000000000;
  constexpr std::int64_t kMade_ns = kDay_ns + 3123456789;
  known_.entry->output_mtime_ns = standing_.mtime_ns = kMade_ns;
  wanted_.input.state.size = 101;
  EXPECT_EQ(kind(), Kind::redone);
  for (const std::int64_t kept : std::initializer_list<std::int64_t>{
           3123456700, 3123456000, 3120000000, 3000000000, 4000000000, 2000000000}) {
    standing_.mtime_ns = kDay_ns + kept;
    EXPECT_EQ(kind(), Kind::redone) << "as coarse as times of files are kept: " << kept;
  }
  for (const std::int64_t time :
       {std::int64_t(0), 2 * kDay_ns, kMade_ns + 1, kMade_ns + 1000000000, kDay_ns + 5000000000,
        kMade_ns - 1900000000, kDay_ns + 1000000000}) {
    standing_.mtime_ns = time;
    EXPECT_EQ(kind(), Kind::unknown);
    EXPECT_TRUE(judge(wanted_, known_, standing_).is_ours);
  }
  wanted_.first_run = 4;
  EXPECT_EQ(kind(), Kind::redone) << "--overwrite";
  wanted_.first_run = 0;
  wanted_.input.state.size = 100;
  EXPECT_EQ(kind(), Kind::same) << "nothing is to be replaced";
  standing_.mtime_ns = 0;
  known_.entry->output_mtime_ns = 0;
  wanted_.input.state.size = 101;
  EXPECT_EQ(kind(), Kind::redone) << "its time was not recorded";
}

TEST_F(OutputPlaceTest, of_other_settings_goes_by_what_is_wished) {
  wanted_.settings = 2;
  EXPECT_EQ(kind(), Kind::taken);
  EXPECT_TRUE(judge(wanted_, known_, standing_).made_with_other);
  wanted_.on_change = OnChange::keep;
  EXPECT_EQ(kind(), Kind::same);
  wanted_.on_change = OnChange::redo;
  EXPECT_EQ(kind(), Kind::redone);
  wanted_.on_change = OnChange::keep;
  wanted_.input.state.size = 101;
  EXPECT_EQ(kind(), Kind::redone) << "a changed input is done again";
}

TEST_F(OutputPlaceTest, is_unknown_where_the_ledger_does_not_know_the_file) {
  standing_.bytes = 51;
  EXPECT_EQ(kind(), Kind::unknown);
  EXPECT_TRUE(judge(wanted_, known_, standing_).is_ours);
  known_.entry.reset();
  EXPECT_EQ(kind(), Kind::unknown);
  EXPECT_FALSE(judge(wanted_, known_, standing_).is_ours);
}

TEST_F(OutputPlaceTest, is_taken_by_what_is_another_s_or_no_file) {
  standing_.type = fs::file_type::unknown;
  EXPECT_EQ(kind(), Kind::taken);
  standing_.type = fs::file_type::regular;
  known_.entry->input = "/other/a.png";
  known_.entry->state.mtime_ns += 1;
  EXPECT_EQ(kind(), Kind::taken);
}

TEST_F(OutputPlaceTest, is_given_up_by_overwrite_but_what_that_has_made) {
  wanted_.first_run = 4;
  EXPECT_EQ(kind(), Kind::redone);
  known_.entry->run = 4;
  EXPECT_EQ(kind(), Kind::same);
  known_.entry.reset();
  EXPECT_EQ(kind(), Kind::redone);
  standing_.type = fs::file_type::directory;
  EXPECT_EQ(kind(), Kind::taken);
}

TEST_F(OutputPlaceTest, is_vacant_or_to_be_made_again_where_nothing_stands) {
  standing_ = {};
  EXPECT_EQ(kind(), Kind::redone);
  known_.entry.reset();
  EXPECT_EQ(kind(), Kind::vacant);
}

/// A run was killed between the rename and the row.
TEST_F(OutputPlaceTest, is_made_again_where_it_was_only_announced) {
  known_.is_announced = true;
  EXPECT_EQ(kind(), Kind::redone);
  wanted_.settings = 2;
  EXPECT_EQ(kind(), Kind::taken) << "no setting replaces a result unasked";
  wanted_.on_change = OnChange::keep;
  EXPECT_EQ(kind(), Kind::same);
  wanted_.on_change = OnChange::redo;
  EXPECT_EQ(kind(), Kind::redone);
  known_.entry->input = "/other/a.png";
  known_.entry->state.size = 1;
  EXPECT_EQ(kind(), Kind::taken);
}

TEST_F(OutputPlaceTest, that_cannot_be_looked_at_is_in_the_way_whatever_is_wished) {
  standing_ = {.type = fs::file_type::none, .error = EIO};
  wanted_.first_run = 4;
  const OutputPlace place = judge(wanted_, known_, standing_);
  EXPECT_EQ(place.kind, Kind::taken);
  EXPECT_EQ(place.why, "it cannot be looked at: Input/output error");
  EXPECT_FALSE(place.may_be_replaced);
}

TEST(OutputStanding, is_nothing_only_where_nothing_is) {
  const TempFolder folder;
  const fs::path file = folder.path() / "file", link = folder.path() / "link";
  std::ofstream(file) << "precious";
  fs::create_symlink("link", link);
  EXPECT_EQ(look_at(folder.path() / "none").type, fs::file_type::not_found);
  EXPECT_EQ(look_at(folder.path() / "no folder/none").type, fs::file_type::not_found);
  EXPECT_EQ(look_at(folder.path() / std::string(300, 'x')).type, fs::file_type::not_found);
  EXPECT_EQ(look_at(file / "below").obstacle, file);
  const Standing standing = look_at(link / "below");
  EXPECT_EQ(standing.type, fs::file_type::none);
  EXPECT_EQ(standing.error, ELOOP);
}

class ResumeAnnounce : public ::testing::Test {
 protected:
  ItemPtr item_of(const std::string& name) const {
    ItemPtr item = make_item(1);
    item->file = folder_.path() / "in" / name;
    item->outputs = {folder_.path() / name};
    item->file_bytes = {3};
    item->file_mtimes_ns = {item->publication.add(item->outputs[0], std::vector<std::byte>(3))};
    return item;
  }
  void announce(const std::vector<WorkItem*>& items) const { resume_.announce(items); }
  static void publish(WorkItem& item) {
    io::Publication* const group[] = {&item.publication};
    io::publish(group, {.durable = false},
                [](std::size_t, const ItemError& error) { throw error; });
  }
  static void write(const fs::path& file) { std::ofstream(file) << "precious"; }
  Kind kind(const WorkItem& item) const { return resume_.place_of(item, 0).kind; }

  const TempFolder folder_;
  ledger::Ledger ledger_{folder_.path() / "ledger.db"};
  const Resume resume_{ledger_, {.root = folder_.path(), .settings = {"png, rank 7"}}};
};

TEST_F(ResumeAnnounce, lets_what_a_killed_run_has_published_be_known) {
  const ItemPtr fresh = item_of("fresh.png"), foreign = item_of("foreign.png"),
                late = item_of("late.png");
  write(foreign->outputs[0]);
  announce({fresh.get(), foreign.get(), late.get()});
  publish(*fresh);
  write(late->outputs[0]);
  EXPECT_EQ(kind(*fresh), Kind::redone);
  const ItemPtr again = item_of("fresh.png");
  announce({again.get()});
  EXPECT_EQ(kind(*again), Kind::redone) << "what the first has published is its own all the same";
  EXPECT_EQ(kind(*foreign), Kind::unknown);
  EXPECT_EQ(kind(*late), Kind::unknown);
}

/// Whatever the times of what it leads to.
TEST_F(ResumeAnnounce, gives_up_no_link_of_somebody_else) {
  const ItemPtr item = item_of("a.png");
  const fs::path old = folder_.path() / "old";
  write(old);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  announce({item.get()});
  fs::create_symlink(old, item->outputs[0]);
  EXPECT_EQ(kind(*item), Kind::unknown);
}

/// Between the announcement and the rename there is nothing at the place yet.
TEST_F(ResumeAnnounce, is_not_forgotten_with_what_is_gone) {
  const ItemPtr item = item_of("a.png");
  announce({item.get()});
  EXPECT_FALSE(resume_.forget_gone("", [](const fs::path& output) { return !fs::exists(output); }));
  publish(*item);
  EXPECT_EQ(kind(*item), Kind::redone);
}

/// A copy of the folder, a backup of hard links or a changed mode give files another ctime.
TEST_F(ResumeAnnounce, leaves_what_is_known_of_the_result_before) {
  const ItemPtr item = item_of("a.png");
  WorkItem* const items[] = {item.get()};
  fill(item->task, 1);
  announce({item.get()});
  publish(*item);
  resume_.record(items);
  item->state.size = 1;  // it has changed
  item->file_mtimes_ns = {item->publication.add(item->outputs[0], std::vector<std::byte>(4))};
  item->file_bytes = {4};
  announce({item.get()});
  fs::permissions(item->outputs[0], fs::perms::owner_read);
  EXPECT_EQ(kind(*item), Kind::redone);
}

TEST_F(ResumeAnnounce, is_taken_back_where_nothing_came_of_it) {
  const ItemPtr published = item_of("published.png"), failed = item_of("failed.png");
  announce({published.get(), failed.get()});
  publish(*published);
  for (WorkItem* item : {published.get(), failed.get()}) {
    item->outcome = Outcome::failed(Stage::write, Reason::output_collision, "another output of it");
    WorkItem* const items[] = {item};
    resume_.record(items);
  }
  EXPECT_TRUE(ledger_.find_announced({"published.png", 3, published->file_mtimes_ns[0]}));
  EXPECT_FALSE(ledger_.find_announced({"failed.png", 3, failed->file_mtimes_ns[0]}));
}

class ResumeCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(at("old"));
    fs::create_directory(at("new"));
    write("old/a.png", "image");
    write("a.png", "result");
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  void write(const fs::path& name, std::string_view text) const {
    fs::remove(at(name));
    std::ofstream(at(name)) << text;
    fs::last_write_time(at(name), fs::file_time_type(std::chrono::seconds(1000000000)));
  }
  Resume resume(bool by_content = false) {
    return {ledger_,
            {.root = folder_.path(), .settings = {"png, rank 7"}, .by_content = by_content}};
  }
  WorkItem item(const fs::path& folder) const {
    WorkItem item;
    item.file = at(folder / "a.png");
    item.relative = "a.png";
    item.outputs = {at("a.png")};
    return item;
  }
  /// Its result is there, and recorded.
  void make_from_old(const std::string& content = {}) {
    WorkItem made = item("old");
    made.state = io::InputFile(made.file).state();
    made.content = content;
    made.file_bytes = {6};
    fill(made.task, 1);
    WorkItem* const items[] = {&made};
    resume().record(items);
  }

  const TempFolder folder_;
  ledger::Ledger ledger_{at("ledger.db")};
};

TEST_F(ResumeCheck, compares_the_file_that_is_open_with_the_one_that_it_may_be_a_copy_of) {
  make_from_old();
  WorkItem copy = item("new");
  const auto result_of = [&](std::string_view is_open, std::string_view has_its_path_by_now) {
    write("new/a.png", is_open);
    const io::InputFile open(copy.file);
    write("new/a.png", has_its_path_by_now);
    copy.outcome = {};
    resume().check(copy, &open);
    return copy.outcome.result;
  };
  EXPECT_EQ(result_of("image", "other"), Result::skipped);
  EXPECT_THROW(result_of("other", "image"), ItemError);
}

/// Else the threads that publish would read both files again.
TEST_F(ResumeCheck, is_asked_once_whether_an_input_is_a_copy) {
  make_from_old();
  write("new/a.png", "image");
  WorkItem copy = item("new");
  copy.state = io::InputFile(copy.file).state();
  EXPECT_EQ(resume().place_of(copy, 0).kind, Kind::taken) << "it may be another file";
  resume().check(copy, nullptr);
  write("old/a.png", "other");
  EXPECT_EQ(resume().place_of(copy, 0).kind, Kind::same);
  WorkItem* const items[] = {&copy};
  resume().record(items);
  EXPECT_TRUE(resume().is_done(copy));
  copy.copy_of.clear();
  EXPECT_TRUE(resume().is_done(copy)) << "the ledger has its path now";
}

TEST_F(ResumeCheck, hashes_the_file_that_is_open) {
  make_from_old(io::content_hash(std::as_bytes(std::span("image", 5))));
  write("new/a.png", "image");
  WorkItem copy = item("new");
  const io::InputFile open(copy.file);
  write("new/a.png", "other");
  resume(true).check(copy, &open);
  EXPECT_EQ(copy.outcome.result, Result::skipped);
}

TEST(SettingsDifference, names_what_differs) {
  EXPECT_EQ(settings_difference("png, solver auto, rank 20", "png, solver auto, rank 7"),
            "rank 20 -> 7");
  EXPECT_EQ(
      settings_difference("png, solver auto, rank 7",
                          "jpeg, solver gram, deterministic, quality 90, rank 7"),
      "deterministic none -> on, format png -> jpeg, quality none -> 90, solver auto -> gram");
  EXPECT_EQ(settings_difference("", "png, rank 7"), "other settings, which were not recorded");
}

}  // namespace
}  // namespace eckart::test
