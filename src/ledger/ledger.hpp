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

/// The record of what is done in one output folder, in SQLite. Where rows are recorded after their
/// outputs are on the disk it never says more than is true. Thread-safe; one process at a time
/// writes.
class Ledger {
 public:
  /// Makes the file and its folder if they are missing. One that is damaged, or of another kind, is
  /// renamed to FILE.damaged-N, and `warning` says so. Throws FatalError(cannot_create), and
  /// EnvironmentError.
  /// `durable`: on the disk every second, so that a power cut takes no more; else when the system
  /// likes.
  explicit Ledger(const std::filesystem::path& file, bool durable = true);
  /// To look at, not to write to; nothing where there is no such file, or one that a run would set
  /// aside.
  static std::unique_ptr<Ledger> open_to_read(const std::filesystem::path& file);
  ~Ledger();

  const std::string& warning() const { return warning_; }
  bool is_read_only() const { return read_only_; }

  std::optional<Entry> find(const std::string& output);
  std::optional<Failure> find_failure(const std::string& input);
  /// All of them or none, over what was known of these inputs and outputs. Throws EnvironmentError.
  void record(const Changes& changes);
  /// On the disk when this returns. Throws EnvironmentError.
  void record_suspects(std::span<const Suspect> suspects);
  std::vector<Suspect> suspects();
  void forget_suspects();
  /// In the place of the one before; begins another run. Throws EnvironmentError.
  void record_request(const Request& request);
  /// The number of the last run that has begun.
  std::int64_t run() const { return run_; }
  /// Nothing where none was recorded.
  std::optional<Request> request();
  Counts count();
  /// The inputs that failed, by path, `limit` at most.
  std::vector<Failure> failed(int limit);

 private:
  struct Open;
  template <class Work>
  auto with_file(const Work& work);
  template <class Write>
  void transaction(bool sync, const Write& write);
  Ledger(const std::filesystem::path& file, std::unique_ptr<Open> open);

  const std::filesystem::path file_;
  const bool read_only_ = false;
  const bool durable_;
  std::int64_t run_ = 0;
  std::string warning_;
  std::mutex mutex_;
  std::unique_ptr<Open> open_;
};

}  // namespace eckart::ledger
