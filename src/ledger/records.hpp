#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"
#include "files/file_state.hpp"

namespace eckart::ledger {

/// An output that is done, or announced: written, and about to be renamed to its place.
struct OutputEntry {
  std::string output;      ///< relative to the output folder; bytes, not text
  std::string input;       ///< absolute path; likewise; what the output was made from
  std::uint64_t settings;  ///< settings_hash() of all that makes other pixels
  int output_index = 0;    ///< which of its input's outputs it is
  FileState state;         ///< of the input, when it was read
  std::int64_t bytes = 0;  ///< of the output
  std::int64_t run = 0;    ///< in which it was done; record() goes by Ledger::run()
  /// Bytes of `input` that are the absolute path of its root, the slash at its end included.
  std::size_t root_length = 1;
  std::int64_t output_mtime_ns = 0;  ///< of the output; 0 where it is not known
  std::string content_hash{};        ///< SHA-256 of the input's bytes, 32 bytes; empty: not known
  std::string report{};              ///< what a report says of the output; empty: not known
};

/// Which file was announced: several may be for one output, of runs that were killed.
struct PublishIntent {
  std::string output;  ///< as in OutputEntry, and so the next two
  std::int64_t bytes = 0;
  std::int64_t output_mtime_ns = 0;
};

/// An input that failed at its last attempt.
struct FailureEntry {
  std::string input;
  FileState state;  ///< as in the next
  FailureReason reason = FailureReason::none;
  std::string detail{};
};

/// An input that was computed when the device was lost.
struct Suspect {
  std::string input;
  FileState state;  ///< what has changed since is no suspect
  int losses = 1;
};

/// What has happened since the last record().
struct LedgerChanges {
  std::vector<OutputEntry> done;  ///< nothing is announced for these outputs any more
  std::vector<FailureEntry> failed;
  std::vector<std::string> cleared;  ///< inputs that are no failures, or suspects, any more
  /// What is known already, of inputs that have another path, state or content by now.
  std::vector<OutputEntry> input_updates{};
  bool sync = false;  ///< on the disk when record() returns, if the ledger is durable
  std::vector<std::string>
      removed_inputs{};  ///< outputs whose inputs are gone: what has their names is new
  std::vector<OutputEntry> intents{};  ///< beside what is known of the same outputs as done
  std::vector<PublishIntent> abandoned_intents{};  ///< what was announced and never came
};

/// What a run was asked for, by which what is left of it is known.
struct RequestEntry {
  std::string settings;             ///< YAML
  std::vector<std::string> inputs;  ///< absolute paths
  std::string files_from;           ///< as it was named; empty for none
  /// Texts of all that makes other pixels, one for each rank, so that a settings_hash() can be
  /// read.
  std::vector<std::string> output_settings{};
  std::string links{};  ///< of a watch: which of them it takes, "none" perhaps; empty for a run
};

/// FNV-1a of such a text: the same in every process and on every machine.
std::uint64_t settings_hash(std::string_view text);

/// How many outputs were made with the same settings.
struct SettingsCount {
  std::uint64_t settings = 0;  ///< settings_hash()
  std::string text;            ///< empty for those of an old version
  std::int64_t outputs = 0;
};

/// Inputs, by what became of them last.
struct InputCounts {
  std::int64_t done = 0, failed = 0;
  std::array<std::int64_t, kFailureReasonCount> failures{};
};

}  // namespace eckart::ledger
