#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/file_state.hpp"
#include "core/outcome.hpp"

namespace eckart::ledger {

/// An output that is done.
struct Entry {
  std::string output;      ///< relative to the output folder; bytes, not text
  std::string input;       ///< absolute path; likewise; what the output was made from
  std::uint64_t settings;  ///< a hash of all that makes other pixels
  int part = 0;            ///< which of its input's outputs it is
  FileState state;         ///< of the input, when it was read
  std::int64_t bytes = 0;  ///< of the output
  std::int64_t run = 0;    ///< in which it was done; record() goes by Ledger::run()
};

/// An input that failed at its last attempt.
struct Failure {
  std::string input;
  FileState state;  ///< as in the next
  Reason reason = Reason::none;
  std::string detail{};
};

/// An input that was computed when the device was lost.
struct Suspect {
  std::string input;
  FileState state;  ///< what has changed since is no suspect
  int losses = 1;
};

/// What has happened since the last record().
struct Changes {
  std::vector<Entry> done;
  std::vector<Failure> failed;
  std::vector<std::string> cleared;  ///< inputs that are no failures, or suspects, any more
  std::vector<std::string> taken{};  ///< outputs whose inputs are gone: what has their names is new
};

/// What a run was asked for, by which what is left of it is known.
struct Request {
  std::string settings;             ///< YAML
  std::vector<std::string> inputs;  ///< absolute paths
  std::string files_from;           ///< as it was named; empty for none
};

/// Inputs, by what became of them last.
struct Counts {
  std::int64_t done = 0, failed = 0;
  std::array<std::int64_t, kReasonCount> failures{};
};

}  // namespace eckart::ledger
