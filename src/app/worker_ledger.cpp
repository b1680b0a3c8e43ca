#include "app/worker_ledger.hpp"

#include <span>
#include <system_error>

#include "app/shard_files.hpp"
#include "core/error.hpp"
#include "hash/name_hash.hpp"
#include "io/environment_error.hpp"
#include "io/process_token.hpp"
#include "io/publication.hpp"
#include "io/read_small_file.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTokenDigits = 16;
constexpr const char* kLedgerFile = "ledger.db";

void make_folder(const fs::path& folder) {
  std::error_code not_created;
  fs::create_directories(folder, not_created);
  if (not_created)
    io::fail_to_create(not_created.value(), "cannot create " + text::printable(folder.native()) +
                                                ": " + not_created.message());
}

/// Locks the first folder N in `folder` that no other process has locked.
fs::path lock_first_free(const fs::path& folder, std::optional<io::FolderLock>& lock) {
  constexpr int kMaxWorkers = 10000;
  for (int number = 1; number <= kMaxWorkers; ++number) {
    fs::path free = folder / std::to_string(number);
    try {
      lock.emplace(free);
      return free;
    } catch (const FatalError& error) {
      if (error.code() != ExitCode::temporary) throw;
    }
  }
  throw FatalError(ExitCode::temporary,
                   text::printable(folder.native()) + " is used by too many workers");
}

/// The name of the copies of this ledger: its own in all processes that use it.
std::string token_of(const fs::path& folder) {
  const fs::path file = folder / "token";
  if (const auto token = io::read_small_file(file, kTokenDigits);
      token && token->size() == kTokenDigits &&
      token->find_first_not_of("0123456789abcdef") == std::string::npos)
    return *token;
  const std::string& token = io::process_token();
  try {
    io::publish_file(file, std::as_bytes(std::span(token)));
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create, text::printable(file.native()) + ": " + error.what());
  }
  return token;
}

}  // namespace

WorkerLedger::WorkerLedger(const fs::path& output, const fs::path& state) : output_(output) {
  const fs::path canonical = fs::weakly_canonical(output);
  const fs::path folder = fs::absolute(state) / "workers" / hash::name_digest(canonical.native());
  make_folder(folder);
  folder_ = lock_first_free(folder, lock_);
  published_prefix_ = worker_file_prefix(output) + token_of(folder_);
  publisher_.emplace(folder_ / kLedgerFile, published_prefix_ + ".db");
}

void WorkerLedger::begin() {
  make_folder(fs::path(published_prefix_).parent_path());
  publisher_->publish();
  publish_unused();
  publisher_->begin();
}

/// The ledgers of processes that were killed, unless their folders were taken since.
void WorkerLedger::publish_unused() const {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.parent_path(), none)) {
    if (entry.path() == folder_ || !fs::exists(entry.path() / kLedgerFile, none)) continue;
    try {
      const io::FolderLock lock(entry.path());
      LedgerPublisher(entry.path() / kLedgerFile,
                      worker_file_prefix(output_) + token_of(entry.path()) + ".db")
          .publish();
    } catch (const FatalError&) {  // in use, or damaged: the worker that takes it reports that
    }
  }
}

}  // namespace eckart::app
