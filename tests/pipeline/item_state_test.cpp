#include "pipeline/item_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace eckart {
namespace {

constexpr int kStates = int(ItemState::finished) + 1;

/// Returns the states that an item in state `from` may change to.
std::vector<ItemState> reachable(ItemState from, bool ok) {
  std::vector<ItemState> states;
  for (int next = 0; next < kStates; ++next) {
    ItemState state = from;
    try {
      advance(state, ItemState(next), ok);
      EXPECT_EQ(state, ItemState(next));
      states.push_back(state);
    } catch (const std::logic_error&) {
      EXPECT_EQ(state, from) << "a refused transition changes nothing";
    }
  }
  return states;
}

TEST(ItemState, passes_the_states_in_order) {
  ItemState state = ItemState::found;
  for (int next = 1; next < kStates; ++next) advance(state, ItemState(next), true);
  EXPECT_EQ(state, ItemState::finished);
}

TEST(ItemState, has_few_other_transitions) {
  using S = ItemState;
  const std::vector<std::pair<S, std::vector<S>>> table = {
      {S::found, {S::loaded}},
      {S::loaded, {S::computed, S::written}},
      {S::computed, {S::written}},
      {S::written, {S::written, S::published}},
      {S::published, {S::recorded, S::finished}},
      {S::recorded, {S::finished}},
      {S::finished, {}},
  };
  for (const auto& [from, to] : table) EXPECT_EQ(reachable(from, true), to) << to_string(from);
}

TEST(ItemState, moves_only_forward_after_a_failure) {
  for (int from = 0; from < kStates; ++from) {
    std::vector<ItemState> later;
    for (int next = from + 1; next < kStates; ++next) later.push_back(ItemState(next));
    EXPECT_EQ(reachable(ItemState(from), false), later);
  }
}

TEST(ItemState, names_both_states_of_a_wrong_transition) {
  ItemState state = ItemState::found;
  try {
    advance(state, ItemState::published, true);
    FAIL() << "no error";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "an item that is found cannot become published");
  }
}

}  // namespace
}  // namespace eckart
