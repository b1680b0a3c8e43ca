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
#include "files/out_of_space.hpp"
#include "ledger/ledger_tables.hpp"
#include "ledger/schema.hpp"
#include "text/printable.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

// What a power cut may take from the ledger: its images are then done again.
constexpr auto kSyncInterval = std::chrono::seconds(1);

bool file_exists(const fs::path& file) {
  std::error_code none;
  return fs::exists(file, none);
}

/// Nothing is there, not even a link that leads nowhere; false where that cannot be known.
bool is_missing(const fs::path& file) {
  struct stat none {};
  return ::lstat(file.c_str(), &none) != 0 && errno == ENOENT;
}

constexpr std::uintmax_t kHeaderBytes = 100;  // SQLite begins anew in what is shorter

/// Nothing where there is no file.
std::optional<std::uintmax_t> find_file_size(const fs::path& file) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(file, none);
  return none ? std::nullopt : std::optional(size);
}

/// What SQLite keeps beside a database.
constexpr std::array kJournalSuffixes = {"-wal", "-shm", "-journal"};

constexpr const char* kDamagedSuffix = ".damaged-";

/// Held while a ledger is made, or a damaged one is set aside: of two processes that start at once
/// one makes it, and the other does not find it empty; of two that find it damaged one sets it
/// aside, and the other goes on with the new one. A lock on its folder, which goes with the
/// process. Where there is none in time, or the file system has no such locks, nobody is kept out:
/// SQLite's own locks still keep the tables whole.
class CreationLock {
 public:
  CreationLock(const fs::path& file, std::chrono::milliseconds timeout)
      : folder_(::open((file.has_parent_path() ? file.parent_path() : fs::path(".")).c_str(),
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!(is_held_ = ::flock(folder_, LOCK_EX | LOCK_NB) == 0) && errno == EWOULDBLOCK &&
           std::chrono::steady_clock::now() < end)
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

/// Opens a ledger, and again each time that another process has renamed it meanwhile.
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

std::string ledger_label(const fs::path& file) { return "ledger " + printable(file.native()); }

[[noreturn]] void fail(const fs::path& file, const DatabaseError& error) {
  const int why = error.system_errno, code = error.code & 0xff;
  const std::string message = ledger_label(file) + ": " + printable_message(error.message) +
                              (why ? ": " + std::generic_category().message(why) : "");
  if (code == SQLITE_FULL || is_out_of_space(why))
    throw EnvironmentError(message, EnvironmentError::Remedy::free_disk_space);
  if (code == SQLITE_BUSY) throw FatalError(ExitCode::temporary, message);
  if (code == SQLITE_READONLY || why == EACCES || why == EPERM)
    throw FatalError(ExitCode::no_permission, message);
  if (code == SQLITE_IOERR || code == SQLITE_NOMEM || why == EIO) throw EnvironmentError(message);
  throw FatalError(ExitCode::cannot_create, message);
}

// What becomes of outputs whose ledger is lost.
constexpr const char* kWithoutRecords =
    "Without its records, existing outputs are compared with new results: an equal output is kept, "
    "a different one is reported as a collision";

/// To who only reads.
[[noreturn]] void fail_damaged(const fs::path& file, const std::string& why) {
  throw FatalError(ExitCode::nothing_readable,
                   ledger_label(file) + ": " + printable_message(why) +
                       ". The ledger is damaged. The next run renames it and creates a new one. " +
                       kWithoutRecords);
}

/// People name ledgers, and mistype.
[[noreturn]] void refuse(const fs::path& file) {
  throw FatalError(ExitCode::usage,
                   ledger_label(file) +
                       ": the file exists and is not an eckart ledger; it was not "
                       "changed. Name another file, or one that does not exist yet");
}

[[noreturn]] void refuse(const fs::path& file, const NewerSchema& schema) {
  throw FatalError(ExitCode::configuration,
                   ledger_label(file) + " was written by a newer eckart (version " +
                       std::to_string(schema.version) + " of the schema; this program supports " +
                       std::to_string(kSchemaVersion) +
                       "); it was not changed. Use the newer eckart or another ledger");
}

}  // namespace

Ledger::Ledger(const fs::path& file, LedgerOptions options)
    : location_(file), options_(std::move(options)) {
  std::error_code no_folder;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), no_folder);
  if (no_folder) fail(file, {SQLITE_CANTOPEN, "cannot create its folder", no_folder.value()});
  try {
    open();
  } catch (const NotALedger&) {
    refuse(file);
  } catch (const NewerSchema& schema) {
    refuse(file, schema);
  } catch (const DatabaseError& error) {
    fail(file, error);
  }
}

Ledger::Ledger(LedgerLocation location, std::unique_ptr<LedgerTables> tables)
    : location_(std::move(location)),
      read_only_(true),
      options_{.durable = false},
      run_(tables->run()),
      tables_(std::move(tables)) {}

Ledger::~Ledger() = default;

/// All zero where there is none.
Ledger::FileId Ledger::file_id_of(const fs::path& file) {
  struct stat there {};
  static_cast<void>(::stat(file.c_str(), &there));
  return {there.st_dev, there.st_ino};
}

std::unique_ptr<Ledger> Ledger::open_read_only(const fs::path& file) {
  struct stat there {};
  if (::stat(file.c_str(), &there) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    fail(file, {SQLITE_CANTOPEN, "cannot be opened", errno});
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
      if (!is_out_of_space(error.system_errno)) throw;
      return open_with(
          OpenMode::immutable);  // a full disk has no room for the files that readers share
    }
  } catch (const NotALedger&) {
    refuse(file);
  } catch (const NewerSchema& schema) {
    refuse(file, schema);
  } catch (const DatabaseError& error) {
    if (error.is_corrupt()) fail_damaged(file, error.message);
    fail(file, error);
  }
}

/// Waits for nobody where there is a ledger.
void Ledger::open() {
  if (find_file_size(file_).value_or(0) >= kHeaderBytes) {
    try {
      return open_tables(OpenMode::read_write_existing);
    } catch (const NotALedger&) {  // it may be about to be one
    } catch (const LedgerMoved&) {
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt() && file_exists(file_)) throw;
    }
  }
  const CreationLock lock(file_, options_.timeout);
  open_or_create(lock.is_held());
}

/// With a CreationLock, as rename_damaged().
void Ledger::open_or_create(bool has_creation_lock) {
  const FileId found = file_id_of(file_);
  const std::optional<std::uintmax_t> size = find_file_size(file_);
  if (has_creation_lock && is_missing(file_)) remove_stale_journals();
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
  if (size && *size < kHeaderBytes && options_.warn)
    options_.warn(ledger_label(file_) + " was empty. " + kWithoutRecords);
}

/// Of a ledger that was renamed or removed: a new one must not share them with processes that have
/// the old one open. SQLite removes files of these names as well when it makes a database.
void Ledger::remove_stale_journals() const {
  std::error_code none;
  for (const char* suffix : kJournalSuffixes) {
    const fs::path journal = file_.native() + suffix;
    if (fs::symlink_status(journal, none).type() == fs::file_type::regular)
      fs::remove(journal, none);
  }
}

/// Does nothing if another file than the damaged one is at the path: another process has renamed
/// the damaged one before. The journals go after the file. Otherwise, a process that opens the file
/// in between would make new ones, and the new ledger would share these.
void Ledger::rename_damaged(const FileId& damaged, const std::string& why) {
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
    throw DatabaseError{SQLITE_CANTOPEN, why + ", and the file cannot be renamed", error.value()};
  remove_stale_journals();
  if (options_.warn)
    options_.warn(ledger_label(file_) + ": " + printable_message(why) + "; renamed to " +
                  printable(new_path.filename().native()) + ". " + kWithoutRecords);
}

void Ledger::open_tables(OpenMode access) {
  auto tables = std::make_unique<LedgerTables>(location_, access, options_.timeout);
  if (!request_) {
    run_ = tables->run();
    request_ = tables->request();
  } else {  // it may be another file now, in which another run has recorded its request
    tables->transaction(true, [&] {
      if (tables->run() < run_) return tables->record(*request_, run_);
      tables->record_settings(request_->output_settings);
    });
  }
  const FileId id = file_id_of(file_);
  if (tables->has_moved()) throw LedgerMoved();  // then `id` may be another file's
  tables_ = std::move(tables);
  const std::lock_guard lock(open_file_id_mutex_);
  open_file_id_ = id;
}

/// Runs `work` on the tables, and once more on new ones where these are damaged; throws what its
/// errors are to the run.
template <class Work>
auto Ledger::with_tables(const Work& work) {
  const std::lock_guard lock(mutex_);
  try {
    try {
      if (tables_ && was_renamed()) tables_.reset();
      if (!tables_) open();  // that failed, and was waited out, or another has set it aside
      return work(*tables_);
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt()) throw;
      if (read_only_) fail_damaged(file_, error.message);
      const CreationLock creation(file_, options_.timeout);
      rename_damaged(open_file_id_.value_or(FileId()), error.message);
      open_or_create(creation.is_held());  // what has begun goes on with a new file
    }
    return work(*tables_);
  } catch (const NotALedger&) {
    refuse(file_);
  } catch (const NewerSchema& schema) {
    refuse(file_, schema);
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

/// All that `write` does, or nothing.
template <class Write>
void Ledger::transaction(bool sync, const Write& write) {
  with_tables([&](LedgerTables& tables) {
    const auto now = std::chrono::steady_clock::now();
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
      changes.input_updates.empty() && changes.removed_inputs.empty() && changes.intents.empty() &&
      changes.abandoned_intents.empty())
    return;
  transaction(changes.sync && options_.durable, [&](const LedgerTables& tables) {
    for (const std::string& input : changes.cleared) tables.clear(input);
    for (const OutputEntry& entry : changes.done) tables.record(entry, run_);
    for (const FailureEntry& failure : changes.failed) tables.record(failure);
    for (const OutputEntry& entry : changes.input_updates) tables.update_input(entry);
    for (const std::string& output : changes.removed_inputs) tables.clear_input_state(output);
    for (const OutputEntry& entry : changes.intents) tables.record_intent(entry, run_);
    for (const PublishIntent& one : changes.abandoned_intents) tables.remove_intents(one);
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
    run = tables.run() + 1;  // others who share it have begun runs of their own
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
  transaction(true, [&](const LedgerTables& tables) {  // a new ledger, where that run's was damaged
    if (tables.run() < run) tables.record(request, run);
  });
}

std::optional<RequestEntry> Ledger::request() {
  return with_tables([](const LedgerTables& tables) { return tables.request(); });
}

InputCounts Ledger::count() {
  return with_tables([](const LedgerTables& tables) { return tables.count(); });
}

std::vector<SettingsCount> Ledger::count_by_settings() {
  return with_tables([](const LedgerTables& tables) { return tables.count_by_settings(); });
}

std::string Ledger::settings_text(std::uint64_t hash) {
  return with_tables([&](const LedgerTables& tables) { return tables.settings_text(hash); });
}

std::vector<FailureEntry> Ledger::failed(int limit) {
  return with_tables([&](const LedgerTables& tables) { return tables.failed(limit); });
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

void Ledger::remove_outputs(const std::function<std::vector<std::string>()>& gone) {
  with_tables([&](LedgerTables& tables) {
    const std::vector<std::string> outputs = gone();
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

/// Whether the file that is open is not at its place any more, but beside it: another process found
/// it damaged.
bool Ledger::was_renamed() const {
  const std::optional<FileId> place = open_file_id();
  if (!place || place == file_id_of(file_)) return false;
  const std::string prefix = file_.filename().native() + kDamagedSuffix;
  std::error_code none;
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, none), end; at != end; at.increment(none)) {
    const fs::path& beside = at->path();
    if (beside.filename().native().starts_with(prefix) && file_id_of(beside) == place) return true;
  }
  return false;
}

void Ledger::check_not_replaced() const {
  const std::optional<FileId> place = open_file_id();
  if (!place || place == file_id_of(file_) || was_renamed()) return;
  throw EnvironmentError(ledger_label(file_) + " was moved, removed or replaced during the run");
}

}  // namespace eckart::ledger
