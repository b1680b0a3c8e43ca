#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace eckart::ledger {

struct LedgerOptions {
  /// If true, the file is synced every second, so that a power cut loses at most one second.
  /// Otherwise the system decides.
  bool durable = true;
  /// How long to wait for another process that has locked the ledger.
  std::chrono::milliseconds timeout{10000};
  /// Called with a warning when records are lost.
  std::function<void(const std::string&)> warn{};
};

}  // namespace eckart::ledger
