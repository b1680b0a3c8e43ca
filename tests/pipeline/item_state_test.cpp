#include "pipeline/item_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <vector>

namespace eckart {
namespace {

constexpr int kStates = int(pipeline::ItemState::finished) + 1;

/// Returns the states that an item in state `from` may change to.
std::vector<pipeline::ItemState> reachable(pipeline::ItemState from, bool ok) {
  std::vector<pipeline::ItemState> states;
  for (int next = 0; next < kStates; ++next) {
    pipeline::ItemState state = from;
    try {
      pipeline::advance(state, pipeline::ItemState(next), ok);
      EXPECT_EQ(state, pipeline::ItemState(next));
      states.push_back(state);
    } catch (const std::logic_error&) {
      EXPECT_EQ(state, from) << "a refused transition changes nothing";
    }
  }
  return states;
}

TEST(ItemState, passes_the_states_in_order) {
  pipeline::ItemState state = pipeline::ItemState::found;
  for (int next = 1; next < kStates; ++next)
    pipeline::advance(state, pipeline::ItemState(next), true);
  EXPECT_EQ(state, pipeline::ItemState::finished);
}

TEST(ItemState, has_few_other_transitions) {
  using S = pipeline::ItemState;
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
    std::vector<pipeline::ItemState> later;
    for (int next = from + 1; next < kStates; ++next) later.push_back(pipeline::ItemState(next));
    EXPECT_EQ(reachable(pipeline::ItemState(from), false), later);
  }
}

TEST(ItemState, names_both_states_of_a_wrong_transition) {
  pipeline::ItemState state = pipeline::ItemState::found;
  try {
    pipeline::advance(state, pipeline::ItemState::published, true);
    FAIL() << "no error";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "an item that is found cannot become published");
  }
}

}  // namespace
}  // namespace eckart
