#pragma once

#include <cstddef>
#include <map>

namespace eckart {

/// Shapes, or kinds of batches, that something is known of at a time: a service meets any.
constexpr std::size_t kMaxCacheEntries = 1024;

/// Room for one more in a map of what can be found out again: a full one loses all whose key is not
/// `in_use`.
template <class Key, class Value, class InUse>
void evict_if_full(std::map<Key, Value>& cache, InUse&& in_use) {
  if (cache.size() < kMaxCacheEntries) return;
  std::erase_if(cache, [&](const auto& entry) { return !in_use(entry.first); });
}
template <class Key, class Value>
void evict_if_full(std::map<Key, Value>& cache) {
  evict_if_full(cache, [](const Key&) { return false; });
}

}  // namespace eckart
