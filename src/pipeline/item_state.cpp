#include "pipeline/item_state.hpp"

#include <stdexcept>
#include <string>

namespace eckart::pipeline {
namespace {

bool is_legal(ItemState from, ItemState to, bool ok) {
  if (!ok) return to > from;
  switch (from) {
    case ItemState::found:
      return to == ItemState::loaded;
    case ItemState::loaded:
      return to == ItemState::computed || to == ItemState::written;
    case ItemState::computed:
      return to == ItemState::written;
    case ItemState::written:
      return to == ItemState::written || to == ItemState::published;
    case ItemState::published:
      return to == ItemState::recorded || to == ItemState::finished;
    case ItemState::recorded:
      return to == ItemState::finished;
    case ItemState::finished:
      return false;
  }
  return false;
}

}  // namespace

std::string_view to_string(ItemState state) {
  switch (state) {
    case ItemState::found:
      return "found";
    case ItemState::loaded:
      return "loaded";
    case ItemState::computed:
      return "computed";
    case ItemState::written:
      return "written";
    case ItemState::published:
      return "published";
    case ItemState::recorded:
      return "recorded";
    case ItemState::finished:
      return "finished";
  }
  return "?";
}

void advance(ItemState& state, ItemState next, bool ok) {
  if (!is_legal(state, next, ok))
    throw std::logic_error("an item that is " + std::string(to_string(state)) + " cannot become " +
                           std::string(to_string(next)));
  state = next;
}

}  // namespace eckart::pipeline
