#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/ledger_outputs.hpp"
#include "io/folder_lock.hpp"
#include "ledger/ledger.hpp"

namespace eckart::app {

/// Receives all entries of a ledger for one output folder. Outputs are relative to the folder.
struct LedgerVisitor {
  std::function<void(const std::string& text)> settings;
  std::function<void(const ledger::OutputEntry& entry)> output;
  std::function<void(const ledger::FailureEntry& failure)> failure;
};

/// `choice` is the setting ledger.file. Throws FatalError(no_input) if there is no ledger.
void visit_ledger(const std::filesystem::path& folder, const settings::FileChoice& choice,
                  const LedgerVisitor& visitor);

struct ImportCounts {
  std::int64_t outputs = 0;        ///< number of outputs in the ledger now
  std::int64_t already_known = 0;  ///< imported outputs that the ledger had already, unchanged
  std::int64_t missing = 0;  ///< number of outputs that are not in the folder, or have another size
  std::int64_t failures = 0;
};

/// Merges another ledger into the ledger of an output folder. Makes the folder if it is missing.
/// Existing entries of unchanged files are kept. Throws FatalError(temporary) if another process
/// writes to the folder.
class LedgerImport {
 public:
  LedgerImport(const std::filesystem::path& folder, const settings::FileChoice& choice);
  void add_settings(const std::string& text) { settings_texts_.push_back(text); }
  void add(ledger::OutputEntry entry);
  void add(ledger::FailureEntry failure);
  ImportCounts finish();

 private:
  void flush();
  bool is_in_archive(const ledger::OutputEntry& entry) const;

  const std::filesystem::path path_;  // of the folder
  const io::FolderLock lock_;
  ledger::Ledger ledger_;
  const LedgerOutputs ledger_outputs_;
  const files::FileDescriptor folder_;
  ledger::LedgerChanges changes_;
  std::vector<std::string> settings_texts_;
  ImportCounts counts_;
};

}  // namespace eckart::app
