#include "app/requeue.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/quarantine_list.hpp"
#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "files/file_descriptor.hpp"
#include "files/state_folder.hpp"
#include "io/claimed_file.hpp"
#include "io/publication.hpp"
#include "io/quarantine.hpp"
#include "io/root_directory.hpp"
#include "io/state_folder.hpp"
#include "ledger/ledger.hpp"
#include "settings/choices.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMarker = "requeue";  // in the state folder

/// Opens the original folder of the input, or makes it if it is missing. Follows no link: the
/// record has the path of the watched folder without the links that led to it.
io::DirectoryPtr open_original_folder(const QuarantineEntry& entry) {
  const fs::path root_path = entry.root.empty() ? fs::path("/") : entry.root;
  const fs::path& real_path = entry.real_root.empty() ? root_path : entry.real_root;
  const auto fail = [&](int error) {
    std::string message = "cannot open the original folder below " + real_path.string() + ": " +
                          std::generic_category().message(error);
    if (error == ELOOP || error == ENOTDIR || error == EXDEV)
      message += ". Its path contains a symbolic link or a file; move " + entry.path.string() +
                 " back by hand";
    throw ItemError(FailureReason::not_written, message);
  };
  const io::RootDirectoryPtr root = io::RootDirectory::open(io::RootPath::without_links(real_path));
  if (!root) fail(errno);
  io::DirectoryPtr folder =
      root->make_below(entry.input->lexically_relative(root_path).parent_path());
  if (!folder) fail(errno);
  return folder;
}

/// Returns whether the file was restored; false if another file has its name.
bool restore_file(const QuarantineEntry& entry, const io::RootDirectory& quarantine) {
  const fs::path relative = entry.path.lexically_relative(quarantine.path());
  const io::DirectoryPtr from = quarantine.open_below(relative.parent_path());
  if (!from)
    throw ItemError(FailureReason::not_written,
                    "the quarantine was changed by another process; try again");
  const io::DirectoryPtr to = open_original_folder(entry);
  return io::move_file({*from, relative.filename(), entry.path},
                       {*to, entry.input->filename(), *entry.input});
}

/// Whether the file is in the quarantine, as far as its record says.
bool was_moved(const QuarantineEntry& entry) {
  return entry.input && !io::is_kept_record(entry.record_file);
}

/// Returns the inputs of moved files whose last version has outputs and has not failed.
std::set<std::string> find_superseded(const fs::path& output,
                                      const std::vector<QuarantineEntry>& entries) {
  std::set<std::string> candidates, superseded;
  for (const QuarantineEntry& entry : entries) {
    if (was_moved(entry)) candidates.insert(entry.input->native());
  }
  if (candidates.empty()) return superseded;
  const settings::FileChoice own;
  const std::unique_ptr<ledger::Ledger> ledger =
      ledger::Ledger::open_read_only(ledger_file(output, own));
  if (!ledger) return superseded;
  std::erase_if(candidates,
                [&](const std::string& input) { return ledger->find_failure(input).has_value(); });
  LedgerOutputs(*ledger, output, own).for_each([&](const ledger::OutputEntry& entry) {
    if (candidates.contains(entry.input)) superseded.insert(entry.input);
  });
  return superseded;
}

RequeueResult restore(const QuarantineEntry& entry, const io::RootDirectory& quarantine) {
  if (!entry.input)
    return {entry.path,
            "its record " + entry.record_file.string() + " does not name the original input"};
  const fs::path& input = *entry.input;
  try {
    const bool was_moved =
                   !io::is_kept_record(entry.record_file) && files::entry_exists(entry.path),
               is_missing = !was_moved && !files::entry_exists(input);
    if (was_moved && !restore_file(entry, quarantine))
      return {input, "a different file exists there now"};
    const fs::path record_file = entry.record_file.lexically_relative(quarantine.path());
    static_cast<void>(quarantine.remove_below(record_file));
    io::remove_empty_folders(quarantine, record_file);
    return {input, is_missing ? "the input no longer exists" : ""};
  } catch (const std::runtime_error& error) {
    return {input, error.what()};
  }
}

/// Returns the named entries, or all entries if `names` is empty.
std::vector<QuarantineEntry> select_named(std::vector<QuarantineEntry> all, const fs::path& folder,
                                          const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::set<std::string> missing(names.begin(), names.end());
  const auto is_named = [&](const QuarantineEntry& entry) {
    bool named = false;
    for (const std::string& name : names) {
      const bool is_match =
          name == entry.path.filename() || name == entry.path.lexically_relative(folder) ||
          name == entry.path ||
          (entry.input && (name == *entry.input || name == entry.input->filename()));
      if (is_match) missing.erase(name);
      named |= is_match;
    }
    return named;
  };
  std::erase_if(all, [&](const QuarantineEntry& entry) { return !is_named(entry); });
  if (missing.empty()) return all;
  throw FatalError(ExitCode::no_input, text::printable(*missing.begin()) +
                                           ": not found in the quarantine " +
                                           text::printable(folder.native()));
}

/// Throws FatalError if the quarantine exists, but cannot be read: it is not empty then.
void check_readable(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& part : {folder.parent_path(), folder}) {
    if (fs::is_symlink(part, error))
      throw FatalError(ExitCode::no_input, text::printable(part.native()) +
                                               ": is a symbolic link, which is not followed");
  }
  const fs::directory_iterator opened(folder, error);
  if (!error || error == std::errc::no_such_file_or_directory) return;
  const bool is_forbidden = error == std::errc::permission_denied;
  throw FatalError(is_forbidden ? ExitCode::no_permission : ExitCode::no_input,
                   text::printable(folder.native()) + ": cannot be read: " + error.message());
}

/// Tells a service that runs.
void write_marker(const fs::path& output) {
  try {
    io::publish_file(output / files::kStateFolder / kMarker, {});
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create,
                     std::string(error.what()) +
                         "; the inputs are back, but a running service was not told: restart it");
  }
}

}  // namespace

std::vector<RequeueResult> requeue(const fs::path& output, const std::vector<std::string>& names) {
  if (!files::entry_exists(output / files::kStateFolder))
    throw FatalError(ExitCode::no_input,
                     text::printable(output.native()) + ": not an output folder of eckart");
  const fs::path folder = io::quarantine_folder(output);
  check_readable(folder);
  std::vector<RequeueResult> results;
  const std::vector<QuarantineEntry> files = select_named(list_quarantine(folder), folder, names);
  const io::RootDirectoryPtr quarantine = io::open_quarantine(folder);
  if (files.empty() || !quarantine) return results;
  std::set<std::string> superseded;
  try {
    if (names.empty()) superseded = find_superseded(output, files);
  } catch (const FatalError& error) {  // a damaged ledger keeps no file in the quarantine
    spdlog::warn("{}", text::printable_message(error.what()));
  }
  for (const QuarantineEntry& entry : files) {
    const bool is_superseded = was_moved(entry) && superseded.contains(entry.input->native());
    results.push_back(
        is_superseded
            ? RequeueResult{*entry.input,
                            "a later file of this name is done; to try the older one, name it"}
            : restore(entry, *quarantine));
  }
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const RequeueResult& entry) { return entry.error.empty(); });
  if (any) write_marker(output);
  return results;
}

std::string requeue_command(const fs::path& output, const fs::path& name) {
  const bool has_hyphen = output.native().starts_with('-') || name.native().starts_with('-');
  std::string command = has_hyphen ? "eckart requeue -- " : "eckart requeue ";
  command += text::shell_word(output.native());
  if (!name.empty()) command += " " + text::shell_word(name.native());
  return command;
}

bool consume_requeue_marker(const fs::path& output) {
  const files::FileDescriptor state = io::state_folder(output).open();
  return state && ::unlinkat(state.get(), kMarker, 0) == 0;
}

}  // namespace eckart::app
