#include "app/ledger_outputs.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "app/ledger_choice.hpp"
#include "app/shard_files.hpp"
#include "core/error.hpp"
#include "io/read_file.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// A ledger outside the folder stores absolute output paths without the first slash.
std::string prefix_of(const fs::path& folder, const settings::FileChoice& choice) {
  if (is_own_ledger(folder, choice)) return {};
  return (fs::absolute(folder) / "").lexically_normal().relative_path().native();
}

}  // namespace

LedgerOutputs::LedgerOutputs(ledger::Ledger& ledger, const fs::path& folder,
                             const settings::FileChoice& choice)
    : ledger_(ledger), prefix_(prefix_of(folder, choice)) {}

void LedgerOutputs::for_each(
    const std::function<void(const ledger::OutputEntry& entry)>& visit) const {
  constexpr int kPageRows = 256;
  for (std::string after = prefix_;;) {
    std::vector<ledger::OutputEntry> entries = ledger_.entries_after(after, kPageRows);
    for (ledger::OutputEntry& entry : entries) {
      if (!entry.output.starts_with(prefix_)) return;
      after = entry.output;
      entry.output.erase(0, prefix_.size());
      visit(entry);
    }
    if (entries.empty()) return;
  }
}

std::vector<ledger::OutputEntry> LedgerOutputs::published_intents(
    const files::FileDescriptor& folder) const {
  std::vector<ledger::OutputEntry> published;
  for (const ledger::OutputEntry& intent : ledger_.intents()) {
    if (!intent.output.starts_with(prefix_)) continue;
    const std::string output = intent.output.substr(prefix_.size());
    if (!published.empty() && published.back().output == output) continue;
    const pipeline::PathStatus path_status = ContainedFile(folder, output).status();
    pipeline::RecordedOutput recorded =
        pipeline::find_recorded_output(ledger_, intent.output, path_status);
    if (!recorded.is_intent) continue;
    recorded.entry->output = output;
    published.push_back(std::move(*recorded.entry));
  }
  return published;
}

ContainedFile::ContainedFile(const files::FileDescriptor& folder, const std::string& path) {
  const fs::path relative(path);
  name_ = relative.filename().native();
  parent_ = files::FileDescriptor(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0));
  const bool escapes_folder =
      relative.is_absolute() || name_.empty() || name_ == "." || name_ == "..";
  error_ = escapes_folder ? ELOOP : parent_ ? 0 : errno;
  for (const fs::path& part : relative.parent_path()) {
    if (error_ != 0) return;
    if (part == "..") {
      error_ = ELOOP;
      return;
    }
    parent_ = files::FileDescriptor(
        ::openat(parent_.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!parent_) error_ = errno;
  }
}

pipeline::PathStatus ContainedFile::status() const {
  struct stat status {};
  if (error_ != 0 || ::fstatat(parent_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode))
    return {};
  const files::FileState state = io::state_of(status);
  return {.type = fs::file_type::regular,
          .bytes = state.size,
          .mtime_ns = ledger::recorded_mtime(state.mtime_ns)};
}

bool ContainedFile::matches_record(std::int64_t bytes, std::int64_t mtime_ns) const {
  const pipeline::PathStatus path_status = status();
  return path_status.type == fs::file_type::regular && path_status.bytes == bytes &&
         (mtime_ns == 0 || path_status.mtime_ns == mtime_ns);
}

bool ContainedFile::is_missing() const {
  struct stat status {};
  if (error_ != 0) return error_ == ENOENT;
  return ::fstatat(parent_.get(), name_.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT;
}

bool ContainedFile::remove() const {
  return error_ == 0 && ::unlinkat(parent_.get(), name_.c_str(), 0) == 0;
}

files::FileDescriptor open_folder(const fs::path& folder) {
  files::FileDescriptor descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (descriptor) return descriptor;
  throw FatalError(ExitCode::no_input,
                   folder.string() + ": " + std::generic_category().message(errno));
}

ledger::LedgerOptions logged_ledger_options() {
  return {.warn = [](const std::string& text) { spdlog::warn("{}", text); }};
}

std::unique_ptr<ledger::Ledger> open_existing_ledger(const fs::path& folder,
                                                     const settings::FileChoice& choice) {
  if (is_own_ledger(folder, choice)) check_merged(folder);
  const fs::path file = ledger_file(folder, choice);
  if (auto ledger = ledger::Ledger::open_read_only(file)) return ledger;
  throw FatalError(ExitCode::no_input,
                   folder.string() + ": no ledger at " + file.string() +
                       ". Either eckart wrote nothing here, or it used another --ledger");
}

}  // namespace eckart::app
