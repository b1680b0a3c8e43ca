#pragma once

#include <cstddef>
#include <map>

namespace eckart {

/// Shapes, or kinds of batches, that something is known of at a time: a service meets any.
constexpr std::size_t kMostKnown = 1024;

/// Room for one more in a map of what can be found out again: a full one loses all whose key is not
/// `in_use`.
template <class Key, class Value, class InUse>
void make_room(std::map<Key, Value>& known, InUse&& in_use) {
  if (known.size() < kMostKnown) return;
  std::erase_if(known, [&](const auto& entry) { return !in_use(entry.first); });
}
template <class Key, class Value>
void make_room(std::map<Key, Value>& known) {
  make_room(known, [](const Key&) { return false; });
}

}  // namespace eckart
