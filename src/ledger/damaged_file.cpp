#include "ledger/damaged_file.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <system_error>

#include "ledger/database.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

/// Suffixes of the files that SQLite keeps beside a database.
constexpr std::array kJournalSuffixes = {"-wal", "-shm", "-journal"};

constexpr const char* kDamagedSuffix = ".damaged-";

bool file_exists(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

}  // namespace

FileId file_id_of(const fs::path& file) {
  struct stat status {};
  static_cast<void>(::stat(file.c_str(), &status));
  return {status.st_dev, status.st_ino};
}

/// The journals are removed after the file is renamed. Otherwise, a process that opens the file in
/// between would create new ones, and the new ledger would share them.
fs::path rename_damaged_file(const fs::path& file, const std::string& reason) {
  fs::path new_path;
  for (int number = 1; new_path.empty() || file_exists(new_path); ++number)
    new_path = file.native() + kDamagedSuffix + std::to_string(number);
  std::error_code error;
  fs::rename(file, new_path, error);
  if (error)
    throw DatabaseError{SQLITE_CANTOPEN, reason + ", and the file cannot be renamed",
                        error.value()};
  remove_stale_journals(file);
  return new_path;
}

bool was_renamed_as_damaged(const fs::path& file, const FileId& damaged) {
  const std::string prefix = file.filename().native() + kDamagedSuffix;
  std::error_code ignored;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    const fs::path& sibling = entry->path();
    if (sibling.filename().native().starts_with(prefix) && file_id_of(sibling) == damaged)
      return true;
  }
  return false;
}

void remove_stale_journals(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : kJournalSuffixes) {
    const fs::path journal = file.native() + suffix;
    if (fs::symlink_status(journal, ignored).type() == fs::file_type::regular)
      fs::remove(journal, ignored);
  }
}

}  // namespace eckart::ledger
