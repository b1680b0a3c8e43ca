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

#include "core/outcome.hpp"

namespace eckart::ledger {

/// What a file looks like from outside; a file that is written to, or replaced, looks different.
struct FileState {
  std::int64_t size = 0, mtime_ns = 0, inode = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// What became of one input with one set of settings.
struct Entry {
  std::string input;  ///< absolute path; bytes, not text
  std::uint64_t key;  ///< of the settings that change pixels, and of where the outputs are
  FileState state;    ///< of the input when it was read
  bool done = false;  ///< or failed
  Reason reason = Reason::none;
  std::string detail{};
  std::int64_t output_bytes = 0;  ///< of all outputs
};

/// How many images an output folder has, by what became of them last.
struct Counts {
  std::int64_t done = 0, failed = 0;
  std::array<std::int64_t, kReasonCount> failures{};
};

/// The record of what is done, in SQLite. Rows are written after their outputs are on the disk, so
/// that it never says more than is true. Thread-safe; one process at a time writes.
class Ledger {
 public:
  /// Makes the file and its folder if they are missing. One that is damaged, or of another kind, is
  /// renamed to FILE.damaged-N, and `warning` says so. Throws FatalError(cannot_create), and
  /// EnvironmentError.
  explicit Ledger(const std::filesystem::path& file);
  /// To look at, not to write to; nothing where there is no such file.
  static std::unique_ptr<Ledger> open_to_read(const std::filesystem::path& file);
  ~Ledger();

  const std::string& warning() const { return warning_; }

  std::optional<Entry> find(const std::string& input, std::uint64_t key);
  /// All of them or none, over what was known of these inputs with these keys. Throws
  /// EnvironmentError.
  void record(std::span<const Entry> entries);
  Counts count();
  /// The inputs that failed, by path, `limit` at most.
  std::vector<Entry> failed(int limit);

 private:
  struct Open;
  Ledger(const std::filesystem::path& file, std::unique_ptr<Open> open);

  const std::filesystem::path file_;
  std::string warning_;
  std::mutex mutex_;
  std::unique_ptr<Open> open_;
};

}  // namespace eckart::ledger
