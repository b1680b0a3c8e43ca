#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "files/file_descriptor.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/output_decision.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// The outputs of one output folder that a ledger knows; one ledger may have those of several.
class LedgerOutputs {
 public:
  /// `choice`: the setting ledger.file.
  LedgerOutputs(ledger::Ledger& ledger, const std::filesystem::path& folder,
                const settings::FileChoice& choice);
  /// Calls `visit` with each, in the order of their names; `output` is relative to the folder.
  void for_each(const std::function<void(const ledger::OutputEntry& entry)>& visit) const;
  /// The publish intents whose file is in `folder`, the open folder, as it was written: a run
  /// was killed before it recorded the output as done.
  std::vector<ledger::OutputEntry> published_intents(const FileDescriptor& folder) const;
  /// The ledger's name of an output that is relative to the folder.
  std::string ledger_key(const std::string& output) const { return prefix_ + output; }

 private:
  ledger::Ledger& ledger_;
  const std::string prefix_;  // of the outputs' names
};

/// A file in a folder, below which no link is followed.
class ContainedFile {
 public:
  /// `folder`: an open one. A `path` that would lead out of it has no file.
  ContainedFile(const FileDescriptor& folder, const std::string& path);
  /// Whether it is a regular file of this size, and of this time of change where that is not 0.
  bool matches_record(std::int64_t bytes, std::int64_t mtime_ns) const;
  /// Of a regular file; anything else counts as nothing.
  PathStatus status() const;
  /// Whether there is nothing of that name.
  bool is_missing() const;
  bool remove() const;

 private:
  FileDescriptor parent_;
  std::string name_;
  int error_ = 0;  // errno
};

/// Opens a folder for ContainedFile. Throws FatalError(no_input).
FileDescriptor open_folder(const std::filesystem::path& folder);

/// Options of a ledger that tells the log what it has lost.
ledger::LedgerOptions logged_ledger_options();

/// Opens the ledger of an output folder to read it. Throws FatalError(no_input) where there is
/// none.
std::unique_ptr<ledger::Ledger> open_existing_ledger(const std::filesystem::path& folder,
                                                     const settings::FileChoice& choice);

}  // namespace eckart::app
