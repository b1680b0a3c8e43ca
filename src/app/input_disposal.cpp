#include "app/input_disposal.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "app/requeue.hpp"
#include "core/error.hpp"
#include "io/claimed_file.hpp"
#include "io/content_hash.hpp"
#include "io/environment_error.hpp"
#include "io/input_file.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Hashing gigabytes of zeros would only delay a stop.
bool is_mostly_sparse(const io::InputFile& file) {
  constexpr std::int64_t kMinBytes = 1 << 20, kBlock = 512;  // bytes; the unit of st_blocks
  struct stat status {};
  return file.size() > kMinBytes && ::fstat(file.descriptor().get(), &status) == 0 &&
         status.st_blocks * kBlock < file.size() / 16;
}

/// Whether the file has the ctime with which it was read; true if that is not known.
bool has_same_ctime(const pipeline::WorkItem& item) {
  const io::RootedFile& file = item.rooted_file;
  const io::DirectoryPtr folder = io::open_directory(file);
  if (!folder) return true;
  const io::EntryStat entry = io::stat_entry(*folder, file.name(), file.root->links());
  return entry.kind != io::EntryStat::file || entry.identity.ctime_ns == item.identity.ctime_ns;
}

}  // namespace

InputDisposal::InputDisposal(const settings::WatchSettings& watch, io::Quarantine& quarantine,
                             RetryBackoff& backoff)
    : watch_(watch),
      quarantine_(quarantine),
      retry_backoff_(backoff),
      move_to_path_(watch.move_to),
      move_to_mount_(watch.move_to) {}

InputDisposal::Disposal InputDisposal::dispose_of(const pipeline::WorkItem& item) {
  try {
    if (item.outcome.result != ItemResult::failed) return {dispose_of_done(item)};
    return {Result::quarantined, quarantine(item)};
  } catch (const ItemError& error) {
    retry_backoff_.warn_once(item.file, error.what());
    retry_backoff_.delay_retry(item.file, item.file_state, Clock::now());
    return {Result::kept};
  }
}

InputDisposal::Result InputDisposal::dispose_of_done(const pipeline::WorkItem& item) {
  if (!watch_.keeps_inputs()) {
    const io::RootDirectoryPtr move_to = watch_.move_to.empty() ? nullptr : open_move_to();
    if (may_have_been_written_to(item)) return Result::replaced;
    std::optional<io::ClaimedFile> file = io::ClaimedFile::claim(item.rooted_file, item.identity);
    // Replaced by a new file, or no longer in the input folder.
    if (!file) return Result::replaced;
    if (move_to) {
      file->move_to(*move_to, item.relative, watch_.settings.limits.file_mb);
    } else {
      file->remove();
    }
  }
  quarantine_.remove_kept_record(item.relative);
  retry_backoff_.forget(item.file);
  return watch_.keeps_inputs() ? Result::kept : Result::removed;
}

/// Whether a program may have written to the file since it was read, and have set the mtime back.
/// Then it is processed again, but not twice: some programs change the ctime after each read.
bool InputDisposal::may_have_been_written_to(const pipeline::WorkItem& item) {
  constexpr std::size_t kMaxFiles = 10000;
  const bool is_same = has_same_ctime(item);
  const std::lock_guard lock(mutex_);
  const bool is_second_time = changed_ctimes_.erase(item.file.native()) > 0;
  if (is_same || is_second_time) return false;
  if (changed_ctimes_.size() >= kMaxFiles) changed_ctimes_.clear();
  changed_ctimes_.insert(item.file.native());
  return true;
}

/// Makes the folder only if it never existed: if its disk is unmounted, new files would be hidden
/// when it is mounted again.
io::RootDirectoryPtr InputDisposal::open_move_to() {
  const auto fail = [this](int error) {
    const std::string message = "cannot create folder " + watch_.move_to.string() + ": " +
                                std::generic_category().message(error);
    io::check_environment(error, message);
    throw ItemError(FailureReason::not_written, message);
  };
  move_to_mount_.check();
  std::error_code error;
  if (!move_to_mount_.has_device()) fs::create_directories(watch_.move_to, error);
  if (error) fail(error.value());
  io::RootDirectoryPtr root = io::RootDirectory::open(move_to_path_);
  const int open_error = errno;
  move_to_mount_.record_device();
  move_to_mount_.check_exists();
  if (!root) fail(open_error);
  return root;
}

/// Sets the hash of the file that was read, or the reason why there is none. Never blocks on a FIFO
/// that has replaced the file.
void InputDisposal::add_hash(const pipeline::WorkItem& item, io::QuarantineRecord& record) const {
  const std::int64_t file_mb = watch_.settings.limits.file_mb;
  try {
    const io::InputFile file = io::open_input(item.rooted_file);
    file.check_size(file_mb);
    if (!io::equal_except_ctime(io::identity_of(file), item.identity)) {
      record.sha256_error = "the file was replaced";
    } else if (is_mostly_sparse(file)) {
      record.sha256_error = "the file is mostly sparse";
    } else {
      record.sha256 = io::content_hash_hex(file);
    }
  } catch (const std::runtime_error& error) {
    record.sha256_error = error.what();
  }
}

/// Adds a quarantine record of an input that is kept. Returns the message.
std::string InputDisposal::keep_failed(const pipeline::WorkItem& item, const std::string& record,
                                       const std::string& explanation) {
  const fs::path record_file = quarantine_.add_kept_record(item.relative, record);
  return text::printable(item.file.native()) + " was left in place" +
         text::printable_message(explanation) + "; see " + text::printable(record_file.native()) +
         ". To retry it, run: " + requeue_command(watch_.output, item.relative);
}

/// Keeps an input that could not be quarantined, and delays its next attempt. Returns the message.
std::string InputDisposal::keep_and_delay(const pipeline::WorkItem& item, const std::string& record,
                                          const std::runtime_error& error) {
  retry_backoff_.delay_retry(item.file, item.file_state, Clock::now());
  return keep_failed(item, record, std::string(" (") + error.what() + ")");
}

/// Returns the message; empty if the input was replaced.
std::string InputDisposal::quarantine(const pipeline::WorkItem& item) {
  io::QuarantineRecord contents{.input = item.file,
                                .root = watch_.input,
                                .real_root = item.rooted_file.root->real_path(),
                                .outcome = item.outcome,
                                .bytes = item.file_state.size,
                                .time = std::chrono::system_clock::now()};
  add_hash(item, contents);
  const std::string record = io::to_json(contents, ECKART_VERSION);
  if (watch_.keeps_inputs()) return keep_failed(item, record, {});
  try {
    std::optional<io::ClaimedFile> file = io::ClaimedFile::claim(item.rooted_file, item.identity);
    if (!file) return {};
    const fs::path quarantined = quarantine_.add(*file, item.relative, record);
    quarantine_.remove_kept_record(item.relative);
    return text::printable(item.file.native()) + " was quarantined as " +
           text::printable(quarantined.native()) + ". To retry it, run: " +
           requeue_command(watch_.output,
                           quarantined.lexically_relative(io::quarantine_folder(watch_.output)));
  } catch (const ItemError& error) {
    return keep_and_delay(item, record, error);
  } catch (const EnvironmentError& error) {
    if (error.remedy() != EnvironmentError::Remedy::free_disk_space) throw;
    // The file may exceed the free space; valid files need not wait for that.
    return keep_and_delay(item, record, error);
  }
}

}  // namespace eckart::app
