#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/file_state.hpp"
#include "core/outcome.hpp"

namespace eckart::ledger {

/// What stands at one output's place, or why nothing does.
struct Entry {
  std::string output;      ///< absolute path; bytes, not text
  std::string input;       ///< likewise; what the output was made from
  std::uint64_t settings;  ///< a hash of all that makes other pixels
  int part = 0;            ///< which of its input's outputs it is; of a failed one, 0
  FileState state;         ///< of the input, when it was read
  bool done = false;       ///< or failed
  Reason reason = Reason::none;
  std::string detail{};
  std::int64_t bytes = 0;  ///< of the output
};

/// Inputs, by what became of them last.
struct Counts {
  std::int64_t done = 0, failed = 0;
  std::array<std::int64_t, kReasonCount> failures{};
};

/// The record of what is done, in SQLite. Where rows are recorded after their outputs are on the
/// disk it never says more than is true. Thread-safe; one process at a time writes.
class Ledger {
 public:
  /// Makes the file and its folder if they are missing. One that is damaged, or of another kind, is
  /// renamed to FILE.damaged-N, and `warning` says so. Throws FatalError(cannot_create), and
  /// EnvironmentError.
  /// `durable`: on the disk every second, so that a power cut takes no more; else when the system
  /// likes.
  explicit Ledger(const std::filesystem::path& file, bool durable = true);
  /// To look at, not to write to; nothing where there is no such file.
  static std::unique_ptr<Ledger> open_to_read(const std::filesystem::path& file);
  ~Ledger();

  const std::string& warning() const { return warning_; }

  std::optional<Entry> find(const std::string& output);
  /// All of them or none, over what was known of these outputs. Throws EnvironmentError.
  void record(std::span<const Entry> entries);
  Counts count();
  /// The inputs that failed, by path, `limit` at most.
  std::vector<Entry> failed(int limit);

 private:
  struct Open;
  Ledger(const std::filesystem::path& file, std::unique_ptr<Open> open);

  const std::filesystem::path file_;
  const bool durable_;
  std::string warning_;
  std::mutex mutex_;
  std::unique_ptr<Open> open_;
};

}  // namespace eckart::ledger
