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

/// The ledger entries of one output folder; a ledger may contain several output folders.
class LedgerOutputs {
 public:
  /// `choice` is the setting ledger.file.
  LedgerOutputs(ledger::Ledger& ledger, const std::filesystem::path& folder,
                const settings::FileChoice& choice);
  /// Calls `visit` for each output, ordered by name; `output` is relative to the folder.
  void for_each(const std::function<void(const ledger::OutputEntry& entry)>& visit) const;
  /// Returns the publish intents whose file is unchanged in the open folder `folder`. Their run was
  /// killed before it recorded the output as done.
  std::vector<ledger::OutputEntry> published_intents(const files::FileDescriptor& folder) const;
  /// Returns the ledger name of an output path that is relative to the folder.
  std::string ledger_key(const std::string& output) const { return prefix_ + output; }

 private:
  ledger::Ledger& ledger_;
  const std::string prefix_;  // prefix of the output names
};

/// A file in a folder. Links below the folder are not followed.
class ContainedFile {
 public:
  /// `folder` is open. If `path` leads out of the folder, the file counts as missing.
  ContainedFile(const files::FileDescriptor& folder, const std::string& path);
  /// Returns whether this is a regular file with this size and, if `mtime_ns` is not 0, this
  /// ledger::recorded_mtime().
  bool matches_record(std::int64_t bytes, std::int64_t mtime_ns) const;
  /// Returns the status of a regular file. Other types count as missing.
  pipeline::PathStatus status() const;
  /// Returns whether no file of any type has this name.
  bool is_missing() const;
  bool remove() const;

 private:
  files::FileDescriptor parent_;
  std::string name_;
  int error_ = 0;  // errno
};

/// Opens a folder for ContainedFile. Throws FatalError(no_input).
files::FileDescriptor open_folder(const std::filesystem::path& folder);

/// Returns options of a ledger that logs lost entries.
ledger::LedgerOptions logged_ledger_options();

/// Opens the ledger of an output folder for reading. Throws FatalError(no_input) if there is none.
std::unique_ptr<ledger::Ledger> open_existing_ledger(const std::filesystem::path& folder,
                                                     const settings::FileChoice& choice);

}  // namespace eckart::app
