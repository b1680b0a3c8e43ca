#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"
#include "files/file_state.hpp"
#include "files/link_policy.hpp"

namespace eckart::ledger {

/// The modification time of an output as it is recorded and compared. A recorded 0 means that the
/// time is unknown, so the time 0, the start of 1970, is recorded as 1 ns.
constexpr std::int64_t recorded_mtime(std::int64_t mtime_ns) {
  return mtime_ns == 0 ? 1 : mtime_ns;
}

/// An output that is done, or a publish intent: an output that is written and about to be renamed
/// to its path.
struct OutputEntry {
  std::string output;      ///< relative to the output folder; bytes, not text
  std::string input;       ///< absolute path of the input; bytes, not text
  std::uint64_t settings;  ///< settings_hash() of all settings that affect pixels
  int output_index = 0;    ///< index among the outputs of its input
  files::FileState state;  ///< of the input when it was read
  std::int64_t bytes = 0;  ///< size of the output
  std::int64_t run = 0;    ///< in which it was done; record() ignores it and uses Ledger::run()
  /// Length of the absolute path of its root at the start of `input`, with the final slash.
  std::size_t root_length = 1;
  std::int64_t output_mtime_ns = 0;  ///< recorded_mtime() of the output; 0: unknown
  std::string content_hash{};        ///< SHA-256 of the input, 32 bytes; empty: unknown
  std::string report{};              ///< measurements as JSON; empty: unknown
  /// Of an entry to record: if not empty, `report` has only the values of these keys, as in
  /// SplitReport. The text must outlive record(). Empty in an entry that was read.
  std::string_view report_keys{};
};

/// Identifies a publish intent. One output may have several, of runs that were killed.
struct PublishIntent {
  std::string output;  ///< this and the next two as in OutputEntry
  std::int64_t bytes = 0;
  std::int64_t output_mtime_ns = 0;
};

/// An input whose last attempt failed.
struct FailureEntry {
  std::string input;
  files::FileState state;  ///< the failure does not count if the file has changed since
  FailureReason reason = FailureReason::none;
  std::string detail{};
};

/// An input that was in flight when a GPU was lost.
struct Suspect {
  std::string input;
  files::FileState state;  ///< the file is not a suspect if it has changed since
  int losses = 1;
};

/// Changes since the last record().
struct LedgerChanges {
  std::vector<OutputEntry> done;  ///< also removes the publish intents of these outputs
  std::vector<FailureEntry> failed;
  std::vector<std::string> cleared;  ///< inputs that are no longer failures or suspects
  /// Recorded outputs whose input now has another path, state or content.
  std::vector<OutputEntry> input_updates{};
  bool sync = false;  ///< durable when record() returns, if LedgerOptions::durable
  /// Outputs whose input no longer exists. If an input appears under that name again, it is new.
  std::vector<std::string> outputs_without_input{};
  std::vector<OutputEntry> intents{};  ///< do not replace records of the same outputs as done
  std::vector<PublishIntent> abandoned_intents{};  ///< intents of outputs that were never published
};

/// The request of a run. From it, `eckart status` determines what is left to do.
struct RequestEntry {
  std::string settings;             ///< YAML
  std::vector<std::string> inputs;  ///< absolute paths
  std::string files_from;           ///< the file of --files-from; empty: none
  /// For each rank, the text of all settings that affect pixels, so that a settings_hash() can be
  /// shown as text.
  std::vector<std::string> output_settings{};
  std::optional<files::LinkPolicy> links{};  ///< `links` setting of a watch; none for a run
};

/// FNV-1a of a text of RequestEntry::output_settings: the same in every process and on every
/// machine.
std::uint64_t settings_hash(std::string_view text);

/// Number of outputs made with the same settings.
struct SettingsCount {
  std::uint64_t settings = 0;  ///< settings_hash()
  std::string text;            ///< empty: recorded by an old version
  std::int64_t outputs = 0;
};

/// Numbers of inputs by their last result.
struct InputCounts {
  std::int64_t done = 0, failed = 0;
  std::array<std::int64_t, kFailureReasonCount> failures{};
};

}  // namespace eckart::ledger
