#pragma once

#include <chrono>
#include <filesystem>

namespace eckart::ledger {

/// A lock on the folder of a ledger, held while a ledger is created or a damaged one is renamed. If
/// two processes start at once, one creates the ledger and the other does not find it empty. If two
/// find it damaged, one renames it and the other opens the new one. The system releases the lock
/// when the process ends. If the lock is not acquired in time, or the file system has no such
/// locks, the process continues without it: the locks of SQLite still protect the tables.
class CreationLock {
 public:
  CreationLock(const std::filesystem::path& file, std::chrono::milliseconds timeout);
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;
  ~CreationLock();

  bool is_held() const { return is_held_; }

 private:
  const int folder_;
  bool is_held_ = false;
};

}  // namespace eckart::ledger
