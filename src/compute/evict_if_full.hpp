#pragma once

#include <cstddef>
#include <map>

namespace eckart::compute {

/// The maximum number of entries of a cache by shape or batch key. A service can meet any number of
/// shapes.
constexpr std::size_t kMaxCacheEntries = 1024;

/// Makes sure that `cache` can take one more entry. A full cache loses all entries whose key is not
/// `in_use`. Use it only for values that can be determined again.
template <class Key, class Value, class InUse>
void evict_if_full(std::map<Key, Value>& cache, InUse&& in_use) {
  if (cache.size() < kMaxCacheEntries) return;
  std::erase_if(cache, [&](const auto& entry) { return !in_use(entry.first); });
}
template <class Key, class Value>
void evict_if_full(std::map<Key, Value>& cache) {
  evict_if_full(cache, [](const Key&) { return false; });
}

}  // namespace eckart::compute
