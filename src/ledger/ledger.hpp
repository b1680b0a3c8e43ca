#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ledger/ledger_file.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

class LedgerTables;
enum class OpenMode;

struct LedgerOptions {
  /// On the disk every second, so that a power cut takes no more; else when the system likes.
  bool durable = true;
  std::chrono::milliseconds timeout{10000};  ///< with others who keep it locked
  /// Told in words of what was known and is not any more.
  std::function<void(const std::string&)> warn{};
};

/// The record of what is done in one output folder, in SQLite. Where outputs are announced before,
/// and recorded as done after they are at their places on the disk, it never says more than is
/// true, and none of them is there that it does not know. Thread-safe; one process at a time
/// writes.
class Ledger {
 public:
  /// Makes the file and its folder if they are missing. One of an older version is migrated. One
  /// that is damaged is renamed to FILE.damaged-N, and begun anew: now, or whenever that shows.
  /// Throws FatalError: usage where the file is something else's (in a folder `.eckart` nothing
  /// is), configuration where a newer program wrote it; cannot_create, no_permission, temporary
  /// where others keep it locked; and EnvironmentError.
  explicit Ledger(const std::filesystem::path& file, LedgerOptions options = {});
  /// To look at, not to write to; nothing where there is no such file. Throws
  /// FatalError(nothing_readable) where it is damaged, and so does everything else here once that
  /// shows; FatalError for a file of something else, or of a newer program, as the constructor.
  static std::unique_ptr<Ledger> open_read_only(const std::filesystem::path& file);
  ~Ledger();

  bool is_read_only() const { return read_only_; }

  /// What is done.
  std::optional<OutputEntry> find(const std::string& output);
  /// What was announced, and not recorded since.
  std::optional<OutputEntry> find_intent(const PublishIntent& intent);
  /// All that was announced, and not recorded since.
  std::vector<OutputEntry> intents();
  /// Of one output.
  std::vector<OutputEntry> intents(const std::string& output);
  std::optional<FailureEntry> find_failure(const std::string& input);
  /// All of them or none, over what was known of these inputs and outputs. Throws EnvironmentError.
  void record(const LedgerChanges& changes);
  /// On the disk when this returns. Throws EnvironmentError.
  void record_suspects(std::span<const Suspect> suspects);
  /// Of all inputs that it has ever known: absolute paths that end with a slash.
  std::vector<std::string> roots();
  std::vector<Suspect> suspects();
  void clear_suspects();
  /// In the place of the one before; begins another run. Throws EnvironmentError.
  void record_request(const RequestEntry& request);
  /// Goes on with a run that an earlier process has begun, as after the loss of a GPU: it has this
  /// request and number, whatever runs others who share the ledger have begun since.
  void continue_run(const RequestEntry& request, std::int64_t run);
  /// The number of the run that has begun here, or goes on; else of the last in the file.
  std::int64_t run() const { return run_; }
  /// Nothing where none was recorded.
  std::optional<RequestEntry> request();
  InputCounts count();
  /// Outputs by the settings that made them, the most first.
  std::vector<SettingsCount> count_by_settings();
  /// The text of a settings_hash(); empty where it is not known.
  std::string settings_text(std::uint64_t hash);
  /// The inputs that failed, by path, `limit` at most.
  std::vector<FailureEntry> failed(int limit);
  /// The next after this output, in the order of their names.
  std::vector<OutputEntry> entries_after(const std::string& output, int limit);
  /// All that settings_text() knows.
  std::vector<std::string> settings_texts();
  void record_settings(const std::vector<std::string>& texts);
  /// The next outputs after this one, in the order of their names.
  std::vector<std::string> outputs_after(const std::string& output, int limit);
  /// Forgets the outputs that `gone` says; nothing is recorded from its call on. Throws
  /// EnvironmentError.
  void remove_outputs(const std::function<std::vector<std::string>()>& gone);
  /// Throws EnvironmentError where the file is not at its place any more, and what is recorded now
  /// would be lost; not where another process has set it aside, and the next call goes on with the
  /// new one. Waits for nobody who records.
  void check_not_replaced() const;

 private:
  /// A file, however it is called.
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const FileId&, const FileId&) = default;
  };
  static FileId file_id_of(const std::filesystem::path& file);

  template <class Work>
  auto with_tables(const Work& work);
  template <class Write>
  void transaction(bool sync, const Write& write);
  Ledger(LedgerLocation location, std::unique_ptr<LedgerTables> tables);
  void open();
  void open_or_create(bool has_creation_lock);
  std::optional<FileId> open_file_id() const;
  bool was_renamed() const;
  void rename_damaged(const FileId& damaged, const std::string& why);
  void remove_stale_journals() const;
  void open_tables(OpenMode access);

  const LedgerLocation location_;
  const std::filesystem::path& file_ = location_.file;
  const bool read_only_ = false;
  const LedgerOptions options_;
  std::int64_t run_ = 0;
  std::optional<RequestEntry> request_;  // of the last run that has begun
  std::mutex mutex_;
  std::unique_ptr<LedgerTables> tables_;
  mutable std::mutex open_file_id_mutex_;
  std::optional<FileId> open_file_id_;  // of the file that is open
  std::chrono::steady_clock::time_point last_sync_ = std::chrono::steady_clock::now();
};

}  // namespace eckart::ledger
