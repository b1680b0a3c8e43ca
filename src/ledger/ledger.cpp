#include "ledger/ledger.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "files/out_of_space.hpp"
#include "ledger/ledger_tables.hpp"
#include "ledger/schema.hpp"
#include "text/printable.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

// A power cut loses at most the records of this interval; their images are then processed again.
constexpr auto kSyncInterval = std::chrono::seconds(1);

bool file_exists(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Empty if there is no file.
std::optional<std::uintmax_t> find_file_size(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? std::nullopt : std::optional(size);
}

/// Suffixes of the files that SQLite keeps beside a database.
constexpr std::array kJournalSuffixes = {"-wal", "-shm", "-journal"};

constexpr const char* kDamagedSuffix = ".damaged-";

/// A lock on the folder of a ledger, held while a ledger is created or a damaged one is renamed. If
/// two processes start at once, one creates the ledger and the other does not find it empty. If two
/// find it damaged, one renames it and the other opens the new one. The system releases the lock
/// when the process ends. If the lock is not acquired in time, or the file system has no such
/// locks, the process continues without it: the locks of SQLite still protect the tables.
class CreationLock {
 public:
  CreationLock(const fs::path& file, std::chrono::milliseconds timeout)
      : folder_(::open((file.has_parent_path() ? file.parent_path() : fs::path(".")).c_str(),
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const auto end = Clock::now() + timeout;
    while (!(is_held_ = ::flock(folder_, LOCK_EX | LOCK_NB) == 0) && errno == EWOULDBLOCK &&
           Clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;
  ~CreationLock() {
    if (folder_ >= 0) ::close(folder_);
  }

  bool is_held() const { return is_held_; }

 private:
  const int folder_;
  bool is_held_ = false;
};

/// Calls `open` again each time that another process has renamed the file meanwhile.
template <class Open>
auto retry_if_moved(const Open& open) {
  constexpr int kMaxAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    try {
      return open();
    } catch (const LedgerMoved&) {
      if (attempt == kMaxAttempts)
        throw DatabaseError{SQLITE_BUSY, "was renamed each time that it was opened"};
    }
  }
}

std::string ledger_label(const fs::path& file) {
  return "ledger " + text::printable(file.native());
}

[[noreturn]] void throw_ledger_error(const fs::path& file, const DatabaseError& error) {
  const int system_error = error.system_errno, code = error.code & 0xff;
  const std::string message =
      ledger_label(file) + ": " + text::printable_message(error.message) +
      (system_error ? ": " + std::generic_category().message(system_error) : "");
  if (code == SQLITE_FULL || files::is_out_of_space(system_error))
    throw EnvironmentError(message, EnvironmentError::Remedy::free_disk_space);
  if (code == SQLITE_BUSY) throw FatalError(ExitCode::temporary, message);
  if (code == SQLITE_READONLY || system_error == EACCES || system_error == EPERM)
    throw FatalError(ExitCode::no_permission, message);
  if (code == SQLITE_IOERR || code == SQLITE_NOMEM || system_error == EIO)
    throw EnvironmentError(message);
  throw FatalError(ExitCode::cannot_create, message);
}

// The consequence of a lost ledger.
constexpr const char* kLostRecordsText =
    "Without its records, existing outputs are compared with new results: an equal output is kept, "
    "a different one is reported as a collision";

/// For a ledger that is opened for reading.
[[noreturn]] void throw_damaged(const fs::path& file, const std::string& reason) {
  throw FatalError(ExitCode::nothing_readable,
                   ledger_label(file) + ": " + text::printable_message(reason) +
                       ". The ledger is damaged. The next run renames it and creates a new one. " +
                       kLostRecordsText);
}

/// A mistyped ledger name must not cost a file.
[[noreturn]] void throw_not_a_ledger(const fs::path& file) {
  throw FatalError(ExitCode::usage,
                   ledger_label(file) +
                       ": the file exists and is not an eckart ledger; it was not "
                       "changed. Name another file, or one that does not exist yet");
}

[[noreturn]] void throw_newer_schema(const fs::path& file, const NewerSchema& schema) {
  throw FatalError(ExitCode::configuration,
                   ledger_label(file) + " was written by a newer eckart (version " +
                       std::to_string(schema.version) + " of the schema; this program supports " +
                       std::to_string(kSchemaVersion) +
                       "); it was not changed. Use the newer eckart or another ledger");
}

}  // namespace

Ledger::Ledger(const fs::path& file, LedgerOptions options)
    : location_(file), options_(std::move(options)) {
  std::error_code folder_error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), folder_error);
  if (folder_error)
    throw_ledger_error(file, {SQLITE_CANTOPEN, "cannot create its folder", folder_error.value()});
  try {
    open();
  } catch (const NotALedger&) {
    throw_not_a_ledger(file);
  } catch (const NewerSchema& schema) {
    throw_newer_schema(file, schema);
  } catch (const DatabaseError& error) {
    throw_ledger_error(file, error);
  }
}

Ledger::Ledger(LedgerLocation location, std::unique_ptr<LedgerTables> tables)
    : location_(std::move(location)),
      read_only_(true),
      options_{.durable = false},
      run_(tables->run()),
      tables_(std::move(tables)) {}

Ledger::~Ledger() = default;

/// All zero if there is no file.
Ledger::FileId Ledger::file_id_of(const fs::path& file) {
  struct stat status {};
  static_cast<void>(::stat(file.c_str(), &status));
  return {status.st_dev, status.st_ino};
}

std::unique_ptr<Ledger> Ledger::open_read_only(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    throw_ledger_error(file, {SQLITE_CANTOPEN, "cannot be opened", errno});
  }
  const LedgerLocation location(file);
  const auto open_with = [&](OpenMode access) {
    return retry_if_moved([&] {
      return std::unique_ptr<Ledger>(new Ledger(
          location, std::make_unique<LedgerTables>(location, access, LedgerOptions().timeout)));
    });
  };
  try {
    try {
      return open_with(OpenMode::read_only);
    } catch (const DatabaseError& error) {
      if (!files::is_out_of_space(error.system_errno)) throw;
      return open_with(
          OpenMode::immutable);  // a full disk has no space for the shared files of readers
    }
  } catch (const NotALedger&) {
    throw_not_a_ledger(file);
  } catch (const NewerSchema& schema) {
    throw_newer_schema(file, schema);
  } catch (const DatabaseError& error) {
    if (error.is_corrupt()) throw_damaged(file, error.message);
    throw_ledger_error(file, error);
  }
}

/// Does not wait for the CreationLock if there is a ledger.
void Ledger::open() {
  if (find_file_size(file_).value_or(0) >= kDatabaseHeaderBytes) {
    try {
      return open_tables(OpenMode::read_write_existing);
    } catch (const NotALedger&) {  // another process may be creating it
    } catch (const LedgerMoved&) {
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt() && file_exists(file_)) throw;
    }
  }
  const CreationLock lock(file_, options_.timeout);
  open_or_create(lock.is_held());
}

/// To be called with a CreationLock, as rename_damaged().
void Ledger::open_or_create(bool has_creation_lock) {
  const FileId found = file_id_of(file_);
  const std::optional<std::uintmax_t> size = find_file_size(file_);
  if (has_creation_lock && !files::entry_exists(file_)) remove_stale_journals();
  const auto open_new_or_existing = [&] {
    retry_if_moved([&] { open_tables(OpenMode::read_write); });
  };
  try {
    open_new_or_existing();
  } catch (const DatabaseError& error) {
    if (!error.is_corrupt()) throw;
    rename_damaged(found, error.message);
    open_new_or_existing();
  }
  if (size && *size < kDatabaseHeaderBytes && options_.warn)
    options_.warn(ledger_label(file_) + " was empty. " + kLostRecordsText);
}

/// Removes the journals of a ledger that was renamed or removed. A new ledger must not share them
/// with processes that have the old one open. SQLite, too, removes files of these names when it
/// creates a database.
void Ledger::remove_stale_journals() const {
  std::error_code ignored;
  for (const char* suffix : kJournalSuffixes) {
    const fs::path journal = file_.native() + suffix;
    if (fs::symlink_status(journal, ignored).type() == fs::file_type::regular)
      fs::remove(journal, ignored);
  }
}

/// Does nothing if another file is at the path: another process has already renamed the damaged
/// one. The journals are removed after the file is renamed. Otherwise, a process that opens the
/// file in between would create new ones, and the new ledger would share them.
void Ledger::rename_damaged(const FileId& damaged, const std::string& reason) {
  tables_.reset();
  {
    const std::lock_guard lock(open_file_id_mutex_);
    open_file_id_.reset();
  }
  if (file_id_of(file_) != damaged) return;
  fs::path new_path;
  for (int number = 1; new_path.empty() || file_exists(new_path); ++number)
    new_path = file_.native() + kDamagedSuffix + std::to_string(number);
  std::error_code error;
  fs::rename(file_, new_path, error);
  if (error)
    throw DatabaseError{SQLITE_CANTOPEN, reason + ", and the file cannot be renamed",
                        error.value()};
  remove_stale_journals();
  if (options_.warn)
    options_.warn(ledger_label(file_) + ": " + text::printable_message(reason) + "; renamed to " +
                  text::printable(new_path.filename().native()) + ". " + kLostRecordsText);
}

void Ledger::open_tables(OpenMode access) {
  auto tables = std::make_unique<LedgerTables>(location_, access, options_.timeout);
  if (!request_) {
    run_ = tables->run();
    request_ = tables->request();
  } else {  // the file may be new and have the request of another run
    tables->transaction(true, [&] {
      if (tables->run() < run_) return tables->record(*request_, run_);
      tables->record_settings(request_->output_settings);
    });
  }
  const FileId id = file_id_of(file_);
  if (tables->has_moved()) throw LedgerMoved();  // otherwise `id` may be of another file
  tables_ = std::move(tables);
  const std::lock_guard lock(open_file_id_mutex_);
  open_file_id_ = id;
}

/// Runs `body` on the tables, and once more on new tables if these are damaged. Translates errors
/// to FatalError and EnvironmentError.
template <class Body>
auto Ledger::with_tables(const Body& body) {
  const std::lock_guard lock(mutex_);
  try {
    try {
      if (tables_ && was_renamed()) tables_.reset();
      if (!tables_) open();  // opening failed before, or another process renamed it
      return body(*tables_);
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt()) throw;
      if (read_only_) throw_damaged(file_, error.message);
      const CreationLock creation_lock(file_, options_.timeout);
      rename_damaged(open_file_id_.value_or(FileId()), error.message);
      open_or_create(creation_lock.is_held());  // the run continues with a new file
    }
    return body(*tables_);
  } catch (const NotALedger&) {
    throw_not_a_ledger(file_);
  } catch (const NewerSchema& schema) {
    throw_newer_schema(file_, schema);
  } catch (const DatabaseError& error) {
    throw_ledger_error(file_, error);
  }
}

/// Runs `write` in a transaction.
template <class Write>
void Ledger::transaction(bool sync, const Write& write) {
  with_tables([&](LedgerTables& tables) {
    const auto now = Clock::now();
    const bool sync_now = sync || (options_.durable && now - last_sync_ >= kSyncInterval);
    tables.transaction(sync_now, [&] { write(tables); });
    if (sync_now) last_sync_ = now;
  });
}

std::optional<OutputEntry> Ledger::find(const std::string& output) {
  return with_tables([&](const LedgerTables& tables) { return tables.find(output); });
}

std::optional<OutputEntry> Ledger::find_intent(const PublishIntent& intent) {
  return with_tables([&](const LedgerTables& tables) { return tables.find_intent(intent); });
}

std::vector<OutputEntry> Ledger::intents(const std::string& output) {
  return with_tables([&](const LedgerTables& tables) { return tables.intents(output); });
}

std::vector<OutputEntry> Ledger::intents() {
  return with_tables([](const LedgerTables& tables) { return tables.intents(); });
}

std::optional<FailureEntry> Ledger::find_failure(const std::string& input) {
  return with_tables([&](const LedgerTables& tables) { return tables.find_failure(input); });
}

void Ledger::record(const LedgerChanges& changes) {
  if (changes.done.empty() && changes.failed.empty() && changes.cleared.empty() &&
      changes.input_updates.empty() && changes.outputs_without_input.empty() &&
      changes.intents.empty() && changes.abandoned_intents.empty())
    return;
  transaction(changes.sync && options_.durable, [&](const LedgerTables& tables) {
    for (const std::string& input : changes.cleared) tables.clear(input);
    for (const OutputEntry& entry : changes.done) tables.record(entry, run_);
    for (const FailureEntry& failure : changes.failed) tables.record(failure);
    for (const OutputEntry& entry : changes.input_updates) tables.update_input(entry);
    for (const std::string& output : changes.outputs_without_input)
      tables.clear_input_state(output);
    for (const OutputEntry& entry : changes.intents) tables.record_intent(entry, run_);
    for (const PublishIntent& intent : changes.abandoned_intents) tables.remove_intents(intent);
  });
}

void Ledger::record_suspects(std::span<const Suspect> suspects) {
  transaction(true, [&](const LedgerTables& tables) {
    for (const Suspect& suspect : suspects) tables.record(suspect);
  });
}

std::vector<std::string> Ledger::roots() {
  return with_tables([](const LedgerTables& tables) { return tables.roots(); });
}

std::vector<Suspect> Ledger::suspects() {
  return with_tables([](const LedgerTables& tables) { return tables.suspects(); });
}

void Ledger::clear_suspects() {
  transaction(false, [](LedgerTables& tables) { tables.clear_suspects(); });
}

void Ledger::record_request(const RequestEntry& request) {
  std::int64_t run = 0;
  transaction(true, [&](const LedgerTables& tables) {
    run = tables.run() + 1;  // other processes that share the ledger may have begun runs
    tables.record(request, run);
  });
  request_ = request;
  run_ = run;
}

void Ledger::continue_run(const RequestEntry& request, std::int64_t run) {
  {
    const std::lock_guard lock(mutex_);
    request_ = request;
    run_ = run;
  }
  transaction(true, [&](const LedgerTables& tables) {
    // The ledger is new if the ledger of the run was damaged.
    if (tables.run() < run) tables.record(request, run);
  });
}

std::optional<RequestEntry> Ledger::request() {
  return with_tables([](const LedgerTables& tables) { return tables.request(); });
}

InputCounts Ledger::count_inputs() {
  return with_tables([](const LedgerTables& tables) { return tables.count_inputs(); });
}

std::vector<SettingsCount> Ledger::count_by_settings() {
  return with_tables([](const LedgerTables& tables) { return tables.count_by_settings(); });
}

std::string Ledger::settings_text(std::uint64_t hash) {
  return with_tables([&](const LedgerTables& tables) { return tables.settings_text(hash); });
}

std::vector<FailureEntry> Ledger::failures(int limit) {
  return with_tables([&](const LedgerTables& tables) { return tables.failures(limit); });
}

std::vector<OutputEntry> Ledger::entries_after(const std::string& output, int limit) {
  return with_tables(
      [&](const LedgerTables& tables) { return tables.entries_after(output, limit); });
}

std::vector<std::string> Ledger::settings_texts() {
  return with_tables([](const LedgerTables& tables) { return tables.settings_texts(); });
}

void Ledger::record_settings(const std::vector<std::string>& texts) {
  transaction(false, [&](const LedgerTables& tables) { tables.record_settings(texts); });
}

std::vector<std::string> Ledger::outputs_after(const std::string& output, int limit) {
  return with_tables(
      [&](const LedgerTables& tables) { return tables.outputs_after(output, limit); });
}

void Ledger::remove_outputs(const std::function<std::vector<std::string>()>& find_removed) {
  with_tables([&](LedgerTables& tables) {
    const std::vector<std::string> outputs = find_removed();
    if (outputs.empty()) return;
    tables.transaction(false, [&] {
      for (const std::string& output : outputs) tables.remove_output(output);
    });
  });
}

std::optional<Ledger::FileId> Ledger::open_file_id() const {
  const std::lock_guard lock(open_file_id_mutex_);
  return open_file_id_;
}

/// Whether the open file is no longer at its path but beside it, because another process found it
/// damaged.
bool Ledger::was_renamed() const {
  const std::optional<FileId> open_id = open_file_id();
  if (!open_id || open_id == file_id_of(file_)) return false;
  const std::string prefix = file_.filename().native() + kDamagedSuffix;
  std::error_code ignored;
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    const fs::path& sibling = entry->path();
    if (sibling.filename().native().starts_with(prefix) && file_id_of(sibling) == open_id)
      return true;
  }
  return false;
}

void Ledger::check_not_replaced() const {
  const std::optional<FileId> open_id = open_file_id();
  if (!open_id || open_id == file_id_of(file_) || was_renamed()) return;
  throw EnvironmentError(ledger_label(file_) + " was moved, removed or replaced during the run");
}

}  // namespace eckart::ledger
