#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "pipeline/work_item.hpp"

namespace eckart {

/// What of a run is done before it, and the record of what it does. Thread-safe.
class Resume {
 public:
  /// `settings`: for each of an item's outputs a text that differs where other settings make other
  /// pixels of it. `redo`: nothing counts as done.
  Resume(ledger::Ledger& ledger, const std::vector<std::string>& settings, bool redo);

  /// Looks at the input, and skips the item where all its outputs were made from it as it is, with
  /// these settings, and are there in their sizes. Throws ItemError.
  void check(WorkItem& item) const;

  /// Of items that are published or have failed. Throws EnvironmentError.
  void record(std::span<const ItemPtr> items) const;

 private:
  bool is_done(const WorkItem& item, const std::string& input, std::size_t output) const;
  std::string absolute(const std::filesystem::path& path) const;

  ledger::Ledger& ledger_;
  std::vector<std::uint64_t> settings_;  // hashes
  const bool redo_;
  const std::filesystem::path folder_;  // that relative paths are relative to
};

}  // namespace eckart
