#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/database.hpp"

namespace eckart::ledger {

/// Reads and writes the table of the roots of inputs, and keeps its rows in memory. For one thread
/// at a time. Every function throws DatabaseError.
class RootCache {
 public:
  /// `database` must outlive the cache.
  explicit RootCache(const Database& database) : database_(database) {}

  /// The ID of a root, which is inserted if it is missing.
  std::int64_t id_of(const std::string& root) const;
  std::string path_of(std::int64_t id) const;
  std::vector<std::string> paths() const;
  /// To be called if a transaction is rolled back: it may have inserted some of the roots.
  void forget_ids() { ids_.clear(); }

 private:
  const Database& database_;
  // Caches, by ID and by path.
  mutable std::unordered_map<std::int64_t, std::string> paths_;
  mutable std::unordered_map<std::string, std::int64_t> ids_;
};

}  // namespace eckart::ledger
