#include "io/watch/settling.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace eckart::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Seen with_size(std::int64_t size) { return {.file = {.state = {size, 0, 1}}, .directory = {}}; }

class SettlingTest : public testing::Test {
 protected:
  static WatchOptions options(std::size_t most = 1000) {
    WatchOptions options;
    options.settle = seconds(1);
    options.patience = seconds(30);
    options.most_pending = most;
    return options;
  }

  /// `s` seconds after the beginning.
  static Instant at(double s) {
    return Instant{} + std::chrono::hours(1000) + milliseconds(std::int64_t(s * 1000));
  }
  /// Looks at all that is due; every file is of that size.
  std::vector<std::string> ready(double s, std::int64_t size = 1) {
    std::vector<std::string> names;
    while (const std::string* due = settling_.due(at(s))) {
      if (auto file = settling_.looked(std::string(*due), with_size(size), at(s))) {
        names.push_back(file->path);
        last_ = *file;
      }
    }
    return names;
  }
  /// Tries what is ready at that time, for nothing.
  bool try_in_vain(double s) {
    if (ready(s).empty()) return false;
    if (!last_.first_try) last_.first_try = at(s);
    settling_.again(last_, at(s));
    return true;
  }

  Settling settling_{options()};
  ReadyFile last_;
};

TEST_F(SettlingTest, the_oldest_of_two_that_came_together_is_the_other_when_one_goes) {
  settling_.changed("a", with_size(1), at(0));
  settling_.changed("b", with_size(1), at(0));
  settling_.changed("c", with_size(1), at(5));
  settling_.forget("a");
  EXPECT_EQ(settling_.oldest(), at(0));
  settling_.forget("b");
  EXPECT_EQ(settling_.oldest(), at(5));
  settling_.forget("c");
  EXPECT_EQ(settling_.oldest(), std::nullopt);
}

TEST_F(SettlingTest, a_file_is_ready_once_it_was_still_for_long_enough) {
  EXPECT_TRUE(settling_.changed("a", with_size(1), at(0)));
  EXPECT_EQ(settling_.next_due(), at(1));
  EXPECT_THAT(ready(0.999), IsEmpty());
  EXPECT_THAT(ready(1), ElementsAre("a"));
  EXPECT_EQ(settling_.size(), 0u);
  EXPECT_FALSE(settling_.next_due());
}

TEST_F(SettlingTest, an_event_begins_the_wait_anew_though_the_file_looks_the_same) {
  settling_.changed("a", with_size(1), at(0));
  settling_.changed("a", with_size(1), at(0.9));
  EXPECT_THAT(ready(1.8), IsEmpty());
  EXPECT_THAT(ready(1.9), ElementsAre("a"));
}

TEST_F(SettlingTest, a_look_that_shows_another_file_begins_the_wait_anew) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_THAT(ready(1, 2), IsEmpty());
  EXPECT_THAT(ready(1.9, 2), IsEmpty());
  EXPECT_THAT(ready(2, 3), IsEmpty());
  EXPECT_THAT(ready(3, 3), ElementsAre("a"));
}

TEST_F(SettlingTest, size_times_inode_device_and_directory_all_count) {
  const Seen first{{{1, 1, 1}, 1, 1}, {1, 1}};
  for (const Seen& other : {Seen{{{2, 1, 1}, 1, 1}, {1, 1}}, Seen{{{1, 2, 1}, 1, 1}, {1, 1}},
                            Seen{{{1, 1, 2}, 1, 1}, {1, 1}}, Seen{{{1, 1, 1}, 2, 1}, {1, 1}},
                            Seen{{{1, 1, 1}, 1, 2}, {1, 1}}, Seen{{{1, 1, 1}, 1, 1}, {2, 1}},
                            Seen{{{1, 1, 1}, 1, 1}, {1, 2}}}) {
    settling_.changed("a", first, at(0));
    EXPECT_FALSE(settling_.looked("a", other, at(1)));
    settling_.forget("a");
  }
  settling_.changed("a", first, at(0));
  EXPECT_TRUE(settling_.looked("a", first, at(1)));
}

TEST_F(SettlingTest, what_a_scan_finds_is_as_still_as_it_says) {
  settling_.found("old", with_size(1), at(9), at(10));
  settling_.found("newer", with_size(1), at(9.7), at(10));
  settling_.found("new", with_size(1), at(10), at(10));
  EXPECT_THAT(ready(10), ElementsAre("old"));
  EXPECT_THAT(ready(10.7), ElementsAre("newer"));
  EXPECT_THAT(ready(11), ElementsAre("new"));
}

TEST_F(SettlingTest, scans_do_not_hold_up_what_settles) {
  settling_.found("a", with_size(1), at(0), at(0));
  for (const double s : {0.3, 0.6, 0.9}) settling_.found("a", with_size(1), at(s), at(s));
  EXPECT_THAT(ready(1), ElementsAre("a"));
}

TEST_F(SettlingTest, a_scan_that_finds_it_changed_does) {
  settling_.found("a", with_size(1), at(0), at(0));
  settling_.found("a", with_size(2), at(0.5), at(0.6));
  EXPECT_THAT(ready(1.5, 2), IsEmpty());
  EXPECT_THAT(ready(1.6, 2), ElementsAre("a"));
}

TEST_F(SettlingTest, files_come_in_the_order_in_which_they_are_due) {
  settling_.changed("c", with_size(1), at(0));
  settling_.changed("a", with_size(1), at(0));
  settling_.changed("b", with_size(1), at(0.1));
  settling_.changed("c", with_size(1), at(0.2));
  EXPECT_THAT(ready(2), ElementsAre("a", "b", "c"));
}

TEST_F(SettlingTest, what_is_forgotten_does_not_come) {
  settling_.changed("a", with_size(1), at(0));
  settling_.changed("b", with_size(1), at(0));
  settling_.forget("a");
  settling_.forget("never there");
  EXPECT_THAT(ready(1), ElementsAre("b"));
}

TEST_F(SettlingTest, what_is_below_a_folder_that_has_left_does_not_come) {
  for (const char* path : {"d/a", "d/e/b", "d", "d0/c", "d.png", "c"})
    settling_.changed(path, with_size(1), at(0));
  EXPECT_EQ(settling_.forget_below("d"), 2u);
  EXPECT_EQ(settling_.size(), 4u);
  EXPECT_THAT(ready(1), testing::UnorderedElementsAre("d", "d0/c", "d.png", "c"));
  EXPECT_EQ(settling_.oldest(), std::nullopt);
}

TEST_F(SettlingTest, half_written_is_tried_again_at_growing_intervals) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_TRUE(try_in_vain(1));
  for (const double due : {2.0, 4.0, 8.0, 16.0}) {
    EXPECT_FALSE(try_in_vain(due - 0.001)) << due;
    EXPECT_TRUE(try_in_vain(due)) << due;
  }
}

TEST_F(SettlingTest, the_last_try_is_when_patience_ends) {
  settling_.changed("a", with_size(1), at(0));
  for (const double due : {1.0, 2.0, 4.0, 8.0, 16.0}) EXPECT_TRUE(try_in_vain(due));
  EXPECT_EQ(settling_.next_due(), at(31)) << "not 32";
}

TEST_F(SettlingTest, there_is_one_more_try_where_the_one_before_took_all_patience) {
  settling_.changed("a", with_size(1), at(0));
  ready(1);
  last_.first_try = at(1);
  settling_.again(last_, at(100));
  EXPECT_EQ(settling_.next_due(), at(101));
}

TEST_F(SettlingTest, a_change_begins_patience_anew) {
  settling_.changed("a", with_size(1), at(0));
  for (const double due : {1.0, 2.0, 4.0}) EXPECT_TRUE(try_in_vain(due));
  settling_.changed("a", with_size(2), at(4.5));
  EXPECT_THAT(ready(5.5, 2), ElementsAre("a")) << "and does not wait for the next try";
  EXPECT_EQ(last_.tries, 0);
  EXPECT_FALSE(last_.first_try);
}

TEST_F(SettlingTest, an_event_that_changes_nothing_keeps_tries_and_patience) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_TRUE(try_in_vain(1));
  EXPECT_TRUE(try_in_vain(2));
  settling_.changed("a", with_size(1), at(2.1));
  EXPECT_THAT(ready(3.9), IsEmpty());
  EXPECT_THAT(ready(4), ElementsAre("a"));
  EXPECT_EQ(last_.tries, 2);
  EXPECT_EQ(last_.first_try, at(1));
}

TEST_F(SettlingTest, half_written_waits_for_an_event_of_late_to_be_still_as_well) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_TRUE(try_in_vain(1));
  settling_.changed("a", with_size(1), at(1.8));
  EXPECT_THAT(ready(2.7), IsEmpty());
  EXPECT_THAT(ready(2.8), ElementsAre("a"));
}

TEST_F(SettlingTest, what_was_not_to_blame_comes_back_with_what_was_known_of_it) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_TRUE(try_in_vain(1));
  EXPECT_THAT(ready(2), ElementsAre("a"));
  settling_.back(last_, at(2.5));
  EXPECT_THAT(ready(3.5), ElementsAre("a"));
  EXPECT_EQ(last_.tries, 1);
  EXPECT_EQ(last_.first_try, at(1));
}

TEST_F(SettlingTest, what_was_not_to_blame_comes_back_later_each_time_and_at_most_thirty_times) {
  settling_.changed("a", with_size(1), at(0));
  EXPECT_THAT(ready(1), ElementsAre("a"));
  double now = 1;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    settling_.back(last_, at(now));
    now += wait;
    EXPECT_THAT(ready(now - 0.1), IsEmpty()) << wait;
    EXPECT_THAT(ready(now), ElementsAre("a")) << wait;
  }
  settling_.back(last_, at(now));
  settling_.changed("a", with_size(2), at(now));
  EXPECT_THAT(ready(now + 1, 2), ElementsAre("a")) << "a change begins anew";
  EXPECT_EQ(last_.deferrals, 0);
}

TEST_F(SettlingTest, refuses_what_it_has_no_room_for_but_knows_what_it_has) {
  Settling settling(options(2));
  EXPECT_TRUE(settling.changed("a", with_size(1), at(0)));
  EXPECT_TRUE(settling.found("b", with_size(1), at(0), at(0)));
  EXPECT_FALSE(settling.changed("c", with_size(1), at(0)));
  EXPECT_FALSE(settling.found("c", with_size(1), at(0), at(0)));
  EXPECT_TRUE(settling.changed("a", with_size(2), at(0)));
  EXPECT_TRUE(settling.found("b", with_size(2), at(0), at(0)));
  EXPECT_EQ(settling.size(), 2u);
  settling.forget("a");
  EXPECT_TRUE(settling.changed("c", with_size(1), at(0)));
}

TEST_F(SettlingTest, has_room_for_what_comes_back) {
  Settling settling(options(1));
  settling.changed("a", with_size(1), at(0));
  settling.again({"b", with_size(1), 0, at(0)}, at(0));
  settling.back({"c", with_size(1), 0, {}}, at(0));
  EXPECT_EQ(settling.size(), 3u);
}

TEST_F(SettlingTest, holds_fifty_thousand_files) {
  Settling settling(options(50000));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50000; ++i)
      EXPECT_TRUE(settling.changed(std::to_string(i), with_size(round), at(0.001 * i)));
  }
  int count = 0;
  while (const std::string* due = settling.due(at(100))) {
    EXPECT_EQ(*due, std::to_string(count));
    EXPECT_TRUE(settling.looked(std::string(*due), with_size(2), at(100)));
    ++count;
  }
  EXPECT_EQ(count, 50000);
}

}  // namespace
}  // namespace eckart::io
