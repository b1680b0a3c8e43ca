#include "io/watch/handout.hpp"

#include <gmock/gmock.h>

namespace eckart::io {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

Seen of_size(std::int64_t size) { return {.file = {.state = {size, 0, 1}}, .directory = {}}; }
Instant at(int s) { return Instant{} + seconds(1000000 + s); }

class HandoutTest : public testing::Test {
 protected:
  void put(const std::string& path, int deferrals = 0) {
    handout_.put({path, of_size(1), 0, {}, deferrals});
  }
  /// Its path, or "".
  std::string take(int s = 0) {
    const auto taken = handout_.take(at(s));
    return taken ? taken->path : "";
  }
  Handout::News finish(const std::string& path, Ending ending, int s = 0) {
    return handout_.finished(path, ending, "why", at(s));
  }
  std::vector<std::string> returned() {
    std::vector<std::string> paths;
    for (const auto& each : handout_.returned())
      paths.push_back(each.file.path + (each.changed ? " changed" : ""));
    return paths;
  }
  WatchState state() const {
    WatchState state;
    handout_.describe(state);
    return state;
  }

  Handout handout_{WatchOptions{}};
};

TEST_F(HandoutTest, gives_first_what_was_ready_first) {
  put("b");
  put("a");
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(take(), "a");
  EXPECT_EQ(take(), "");
}

TEST_F(HandoutTest, what_is_finished_returns_once_with_its_ending) {
  put("a");
  take();
  finish("a", Ending::half_written);
  EXPECT_EQ(state().in_flight, 1u) << "until it is back";
  const auto returned = handout_.returned();
  ASSERT_EQ(returned.size(), 1u);
  EXPECT_EQ(returned[0].ending, Ending::half_written);
  EXPECT_FALSE(returned[0].changed);
  EXPECT_EQ(returned[0].file.first_try, at(0));
  EXPECT_EQ(state().in_flight, 0u);
  EXPECT_THAT(handout_.returned(), IsEmpty());
}

TEST_F(HandoutTest, what_was_not_taken_or_is_finished_already_is_passed_over) {
  put("a");
  finish("a", Ending::settled);
  finish("b", Ending::settled);
  EXPECT_THAT(returned(), IsEmpty());
  take();
  finish("a", Ending::settled);
  finish("a", Ending::half_written);
  EXPECT_THAT(returned(), ElementsAre("a"));
}

TEST_F(HandoutTest, what_changes_while_it_is_ready_is_ready_no_more) {
  put("a");
  put("b");
  EXPECT_FALSE(handout_.changed("a"));
  EXPECT_EQ(take(), "b");
  EXPECT_EQ(take(), "");
}

TEST_F(HandoutTest, what_changes_in_flight_comes_back_as_changed) {
  put("a");
  take();
  EXPECT_TRUE(handout_.changed("a"));
  finish("a", Ending::settled);
  EXPECT_TRUE(handout_.changed("a")) << "is in flight until it is back";
  EXPECT_THAT(returned(), ElementsAre("a changed"));
  EXPECT_FALSE(handout_.changed("a"));
}

TEST_F(HandoutTest,
       below_a_folder_that_has_left_nothing_is_ready_and_what_is_in_flight_has_changed) {
  put("d/flies");
  EXPECT_EQ(take(), "d/flies");
  for (const char* path : {"d/a", "d/e/b", "d", "d0/c"}) put(path);
  put("d/deferred", 1);
  EXPECT_EQ(handout_.changed_below("d"), 3u);
  EXPECT_EQ(take(), "d");
  EXPECT_EQ(take(), "d0/c");
  EXPECT_EQ(take(), "");
  finish("d/flies", Ending::settled);
  finish("d0/c", Ending::settled);
  EXPECT_THAT(returned(), ElementsAre("d/flies changed", "d0/c"));
}

TEST_F(HandoutTest, a_scan_changes_nothing_about_what_looks_as_it_did) {
  put("a");
  EXPECT_TRUE(handout_.has("a", of_size(1)));
  take();
  EXPECT_TRUE(handout_.has("a", of_size(1)));
  finish("a", Ending::settled);
  EXPECT_THAT(returned(), ElementsAre("a"));
  EXPECT_FALSE(handout_.has("a", of_size(1)));
}

TEST_F(HandoutTest, a_scan_notices_what_no_event_has_told) {
  put("a");
  EXPECT_FALSE(handout_.has("a", of_size(2)));
  EXPECT_EQ(take(), "");
  put("a");
  take();
  EXPECT_TRUE(handout_.has("a", of_size(2)));
  finish("a", Ending::settled);
  EXPECT_THAT(returned(), ElementsAre("a changed"));
}

TEST_F(HandoutTest, the_last_try_is_when_patience_is_over) {
  handout_.put({"a", of_size(1), 3, at(0)});
  EXPECT_FALSE(handout_.take(at(29))->last_try);
  handout_.put({"b", of_size(1), 3, at(0)});
  EXPECT_TRUE(handout_.take(at(30))->last_try);
  put("c");
  EXPECT_FALSE(handout_.take(at(99))->last_try) << "that is its first";
  WatchOptions impatient;
  impatient.patience = seconds(0);
  Handout handout(impatient);
  handout.put({"a", of_size(1), 0, {}});
  EXPECT_TRUE(handout.take(at(0))->last_try);
}

TEST_F(HandoutTest, an_environment_error_holds_all_back_and_is_news_once) {
  for (const char* name : {"a", "b", "c"}) put(name);
  take();
  take();
  EXPECT_EQ(finish("a", Ending::environment, 10), Handout::News::holds_back);
  EXPECT_EQ(finish("b", Ending::environment, 10), Handout::News::none);
  EXPECT_EQ(state().degraded, "why");
  EXPECT_EQ(handout_.held_until(), at(11));
  EXPECT_EQ(take(10), "");
  EXPECT_EQ(take(11), "c");
}

TEST_F(HandoutTest, one_probe_goes_alone_and_its_success_lets_the_others_go) {
  for (const char* name : {"a", "b", "c"}) put(name);
  take();
  finish("a", Ending::environment);
  EXPECT_EQ(take(1), "b");
  EXPECT_EQ(take(100), "") << "while the probe is in flight";
  EXPECT_FALSE(handout_.held_until());
  EXPECT_EQ(finish("b", Ending::settled, 100), Handout::News::goes_on);
  EXPECT_EQ(state().degraded, "");
  EXPECT_EQ(take(100), "c");
}

TEST_F(HandoutTest, a_half_written_probe_shows_as_much) {
  put("a");
  put("b");
  take();
  finish("a", Ending::environment);
  take(1);
  EXPECT_EQ(finish("b", Ending::half_written), Handout::News::goes_on);
}

TEST_F(HandoutTest, waits_grow_to_thirty_times_the_first) {
  put("a");
  take();
  finish("a", Ending::environment, 0);
  int now = 0;
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    returned();
    put("a");
    EXPECT_EQ(take(now + wait - 1), "") << wait;
    EXPECT_EQ(take(now + wait), "a") << wait;
    now += wait;
    EXPECT_EQ(finish("a", Ending::environment, now), Handout::News::none);
  }
  returned();
  put("a");
  take(now + 30);
  EXPECT_EQ(finish("a", Ending::settled), Handout::News::goes_on);
  returned();
  put("a");
  take();
  finish("a", Ending::environment, 0);
  EXPECT_EQ(state().degraded, "why");
  put("b");
  EXPECT_EQ(handout_.held_until(), at(1)) << "and begin anew the next time";
}

TEST_F(HandoutTest, what_was_deferred_before_comes_after_all_others) {
  put("bad", 1);
  put("good");
  put("worse", 2);
  EXPECT_EQ(take(), "good");
  EXPECT_EQ(take(), "bad");
  EXPECT_EQ(take(), "worse");
}

TEST_F(HandoutTest, what_was_deferred_before_does_not_lengthen_the_wait) {
  put("bad");
  take();
  finish("bad", Ending::environment, 0);
  for (int now = 1; now < 10; ++now) {
    returned();
    put("bad", 1);
    EXPECT_EQ(take(now), "bad") << now;
    finish("bad", Ending::environment, now);
    EXPECT_EQ(take(now), "");
  }
}

TEST_F(HandoutTest, holds_nothing_back_where_nothing_waits) {
  put("a");
  take();
  EXPECT_EQ(handout_.nothing_settles(), Handout::News::none);
  finish("a", Ending::environment);
  EXPECT_EQ(handout_.nothing_settles(), Handout::News::none) << "until it is back";
  returned();
  EXPECT_EQ(handout_.nothing_settles(), Handout::News::nothing_waits);
  EXPECT_EQ(state().degraded, "");
  put("b");
  EXPECT_EQ(take(), "b");
}

TEST_F(HandoutTest, what_was_in_flight_before_neither_ends_nor_lengthens_the_wait) {
  for (const char* name : {"a", "b", "c", "d"}) put(name);
  for (int i = 0; i < 3; ++i) take();
  finish("a", Ending::environment, 0);
  EXPECT_EQ(finish("b", Ending::settled, 0), Handout::News::none);
  EXPECT_EQ(finish("c", Ending::environment, 0), Handout::News::none);
  EXPECT_EQ(handout_.held_until(), at(1));
}

TEST_F(HandoutTest, has_room_for_a_bounded_number_and_says_when_to_fill_it_up) {
  int count = 0;
  for (; handout_.has_room(); ++count) put(std::to_string(count));
  EXPECT_EQ(count, 1024);
  int hints = 0;
  while (const auto taken = handout_.take(at(0))) hints += taken->makes_room;
  EXPECT_EQ(hints, 1);
}

TEST_F(HandoutTest, what_is_dropped_is_not_ready_but_may_be_in_flight) {
  put("a");
  put("b");
  take();
  handout_.drop_ready();
  EXPECT_EQ(take(), "");
  finish("a", Ending::settled);
  EXPECT_THAT(returned(), ElementsAre("a"));
}

}  // namespace
}  // namespace eckart::io
