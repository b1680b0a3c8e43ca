#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <vector>

#include "core/instant.hpp"
#include "ledger/ledger_options.hpp"
#include "ledger/prepared_changes.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

class LedgerConnection;
class LedgerTables;

/// The SQLite file that records what is done in one output folder. If outputs are recorded as
/// publish intents before they are renamed, and as done only once they are durable, the ledger
/// lists no output that does not exist, and every output is in it. Thread-safe. One process at a
/// time writes.
class Ledger {
 public:
  /// Creates the file and its folder if they do not exist, and migrates an older version. A damaged
  /// file is renamed to FILE.damaged-N, and a new one is created: here, or when the damage is found
  /// later. Throws FatalError: `usage` if the file is not a ledger (in a folder `.eckart` every
  /// file counts as a ledger), `configuration` if a newer program wrote it, `cannot_create`,
  /// `no_permission`, `temporary` if another process keeps it locked. Throws EnvironmentError.
  explicit Ledger(const std::filesystem::path& file, const LedgerOptions& options = {});
  /// Opens a ledger for reading. Returns null if the file does not exist. Throws
  /// FatalError(nothing_readable) if the file is damaged; so does any other function once damage is
  /// found. Throws FatalError as the constructor if the file is not a ledger or is of a newer
  /// program.
  static std::unique_ptr<Ledger> open_read_only(const std::filesystem::path& file);
  /// The same for a file that no process changes meanwhile. Needs no locks and no other files, so
  /// the file may be on a network file system.
  static std::unique_ptr<Ledger> open_unchanging(const std::filesystem::path& file);
  ~Ledger();

  bool is_read_only() const;
  /// Makes find() and the settings include those of another ledger, for outputs that are not in
  /// this one. Its names of outputs are those of this ledger without `prefix`. Call it before other
  /// threads use this object.
  void use_earlier(std::unique_ptr<Ledger> earlier, std::string prefix);

  /// The output, if it is recorded as done.
  std::optional<OutputEntry> find(const std::string& output);
  /// The publish intent, if neither recorded as done nor abandoned since.
  std::optional<OutputEntry> find_intent(const PublishIntent& intent);
  /// All open publish intents, by output.
  std::vector<OutputEntry> intents();
  /// The open publish intents of one output.
  std::vector<OutputEntry> intents(const std::string& output);
  std::optional<FailureEntry> find_failure(const std::string& input);
  /// Records all changes or none. They replace earlier records of the same inputs and outputs.
  /// Calls of several threads that come during a transaction share the next one, and fail together.
  /// Throws EnvironmentError.
  void record(const LedgerChanges& changes);
  /// Durable when it returns. Throws EnvironmentError.
  void record_suspects(std::span<const Suspect> suspects);
  /// The roots of all inputs ever recorded: absolute paths that end with a slash.
  std::vector<std::string> roots();
  std::vector<Suspect> suspects();
  void clear_suspects();
  /// Replaces the recorded request and begins a new run. Throws EnvironmentError.
  void record_request(const RequestEntry& request);
  /// Continues a run that an earlier process began, after the loss of a GPU for example. It keeps
  /// this request and number, even if other processes that share the ledger have begun runs since.
  void continue_run(const RequestEntry& request, std::int64_t run);
  /// The number of the run that this object began or continued; otherwise of the last run in the
  /// file.
  std::int64_t run() const;
  /// The last recorded request, if any.
  std::optional<RequestEntry> request();
  InputCounts count_inputs();
  /// Number of outputs by settings, largest first.
  std::vector<SettingsCount> count_by_settings();
  /// The text with this settings_hash(); empty if unknown.
  std::string settings_text(std::uint64_t hash);
  /// At most `limit` inputs that failed, sorted by path.
  std::vector<FailureEntry> failures(int limit);
  /// At most `limit` outputs after `output`, sorted by name.
  std::vector<OutputEntry> entries_after(const std::string& output, int limit);
  /// All texts that settings_text() can return.
  std::vector<std::string> settings_texts();
  void record_settings(const std::vector<std::string>& texts);
  /// The names of at most `limit` outputs after `output`, sorted.
  std::vector<std::string> outputs_after(const std::string& output, int limit);
  /// Removes the records of the outputs that `find_removed` returns. Nothing is recorded while it
  /// runs. Throws EnvironmentError.
  void remove_outputs(const std::function<std::vector<std::string>()>& find_removed);
  /// Replaces the first `removed` bytes of the names of all outputs by `prefix`. Throws FatalError,
  /// EnvironmentError.
  void rename_outputs(std::size_t removed, const std::string& prefix);
  /// Writes a complete copy to a file that does not exist yet. Throws FatalError, EnvironmentError.
  void copy_to(const std::filesystem::path& file);
  /// Throws EnvironmentError if the file is no longer at its path, so that new records would be
  /// lost. Does not throw if another process has renamed it as damaged: the next call opens the new
  /// file. Does not wait for calls that record.
  void check_not_replaced() const;

 private:
  /// A call of record().
  struct RecordCall {
    const PreparedChanges prepared;
    bool is_finished = false;
    std::exception_ptr error{};
    std::binary_semaphore woken{0};  // it is finished, or its thread is to record the waiting calls
    std::array<RecordCall*, 2> followers{};  // its thread wakes those of these finished calls
  };

  explicit Ledger(std::unique_ptr<LedgerConnection> connection);
  void record_waiting_calls(const RecordCall& own);
  static void wake(std::span<RecordCall* const> finished);
  void record(std::span<RecordCall* const> calls);
  template <class Query>
  auto read(const Query& query);
  template <class Write>
  void transaction(bool sync, const Write& write);
  template <class Write>
  void transaction(LedgerTables& tables, bool sync, const Write& write);

  std::unique_ptr<Ledger> earlier_;  // see use_earlier()
  std::string earlier_prefix_;

  const bool is_durable_;
  const std::unique_ptr<LedgerConnection> connection_;
  // Of the transactions, one at a time.
  Instant last_sync_ = Clock::now();

  std::mutex calls_mutex_;
  std::vector<RecordCall*> waiting_calls_;
  bool is_recording_ = false;  // one of the threads in record() records the waiting calls
};

}  // namespace eckart::ledger
