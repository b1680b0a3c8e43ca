#include "ledger/root_cache.hpp"

#include <sqlite3.h>

namespace eckart::ledger {

std::int64_t RootCache::id_of(const std::string& root) const {
  if (const auto cached = ids_.find(root); cached != ids_.end()) return cached->second;
  const Statement insert = database_.prepare("INSERT OR IGNORE INTO root (path) VALUES (?1)");
  Statement::Execution(insert).bind(1, root).step();
  const Statement select = database_.prepare("SELECT id FROM root WHERE path = ?1");
  Statement::Execution execution(select);
  execution.bind(1, root).step();
  return ids_[root] = execution.integer(0);
}

/// The cache stays valid, because the ID of a root never changes.
std::string RootCache::path_of(std::int64_t id) const {
  if (const auto cached = paths_.find(id); cached != paths_.end()) return cached->second;
  const Statement select = database_.prepare("SELECT path FROM root WHERE id = ?1");
  Statement::Execution execution(select);
  if (!execution.bind(1, id).step())
    throw DatabaseError{SQLITE_CORRUPT, "an output has no root", 0};
  return paths_[id] = execution.bytes(0);
}

std::vector<std::string> RootCache::paths() const {
  const Statement select = database_.prepare("SELECT path FROM root");
  Statement::Execution execution(select);
  std::vector<std::string> roots;
  while (execution.step()) roots.push_back(execution.bytes(0));
  return roots;
}

}  // namespace eckart::ledger
