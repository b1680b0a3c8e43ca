#include "app/prune.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "io/folder_lock.hpp"
#include "io/open_archive.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

std::string root_of(const ledger::OutputEntry& entry) {
  return entry.input.substr(0, entry.root_length);
}

/// Returns false if the file cannot be checked.
bool is_missing(const std::string& input) {
  struct stat status {};
  if (::lstat(input.c_str(), &status) == 0) return false;
  return errno == ENOENT || (errno == ENOTDIR && !io::input_exists(input));
}

/// Returns whether the folder of the input, or a parent of it below its root, exists and is not a
/// link. If the root of the input is unknown, its own folder must exist.
bool has_existing_folder(const ledger::OutputEntry& entry) {
  const auto is_folder = [](const fs::path& path) {
    std::error_code none;
    const fs::file_type type = fs::symlink_status(path, none).type();
    return type == fs::file_type::directory ||
           (type == fs::file_type::regular && io::is_archive_path(path));
  };
  const bool knows_root = entry.root_length > 1;
  fs::path folder = fs::path(entry.input).parent_path();
  while (knows_root && !is_folder(folder) && folder.native().size() >= entry.root_length)
    folder = folder.parent_path();
  return is_folder(folder);
}

class OrphanSearch {
 public:
  OrphanSearch(const PruneRequest& request, ledger::Ledger& ledger)
      : output_(request.output),
        include_empty_(request.include_empty),
        folder_(open_folder(request.output)),
        ledger_(ledger) {
    const LedgerOutputs outputs(ledger, request.output, request.ledger);
    for (ledger::OutputEntry& intent : outputs.published_intents(folder_))
      published_intents_.insert_or_assign(intent.output, std::move(intent));
    outputs.for_each([this](const ledger::OutputEntry& entry) { visit_done(entry); });
    for (const auto& [output, intent] : published_intents_) visit(intent);
  }

  Orphans take_orphans() && {
    for (auto& [folder, candidates] : by_folder_) {
      for (Candidate& one : candidates) {
        const bool is_certain =
            !emptied_roots_.contains(one.root) &&
            (folders_with_inputs_.contains(folder) || (include_empty_ && one.has_existing_folder));
        if (is_certain) {
          orphans_.removable.push_back(std::move(one.result));
        } else {
          ++orphans_.uncertain[one.root];
        }
      }
    }
    for (std::vector<Orphan>* orphans : {&orphans_.removable, &orphans_.modified})
      std::ranges::sort(*orphans, {}, &Orphan::output);
    return std::move(orphans_);
  }

 private:
  struct Candidate {
    Orphan result;
    std::string root;
    bool has_existing_folder = false;
  };

  /// If a killed run published the output again without recording it, its publish intent names the
  /// input of the file. This entry is then outdated.
  void visit_done(const ledger::OutputEntry& entry) {
    if (entry.state.size < 0) emptied_roots_.insert(root_of(entry));
    if (entry.state.size >= 0 && !published_intents_.contains(entry.output)) visit(entry);
  }

  void visit(const ledger::OutputEntry& entry) {
    if (!is_missing(entry.input)) {
      folders_with_inputs_.insert(folder_of(entry));
    } else if (!ledger_.find_failure(entry.input)) {
      classify_orphan(entry);
    }
  }

  static std::string folder_of(const ledger::OutputEntry& entry) {
    return fs::path(entry.input).parent_path();
  }

  void classify_orphan(const ledger::OutputEntry& entry) {
    const ContainedFile file(folder_, entry.output);
    if (file.is_missing() || io::parse_member_path(output_ / entry.output)) return;
    if (entry.output_mtime_ns == 0) {
      ++orphans_.without_mtime;
    } else if (!file.matches_record(entry.bytes, entry.output_mtime_ns)) {
      orphans_.modified.push_back({entry.output, entry.input});
    } else if (may_exist_below_another_root(entry)) {
      ++orphans_.uncertain[root_of(entry)];
    } else {
      by_folder_[folder_of(entry)].push_back({{entry.output, entry.input},
                                              root_of(entry),
                                              include_empty_ && has_existing_folder(entry)});
    }
  }

  /// If the entry is of a deleted copy of the input, the input itself may still exist below another
  /// root.
  bool may_exist_below_another_root(const ledger::OutputEntry& entry) const {
    const std::string relative = entry.input.substr(entry.root_length);
    return std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
      return root.size() > 1 && root != root_of(entry) && !is_missing(root + relative);
    });
  }

  const std::filesystem::path output_;
  const bool include_empty_;
  const files::FileDescriptor folder_;
  ledger::Ledger& ledger_;
  const std::vector<std::string> roots_{ledger_.roots()};
  std::map<std::string, ledger::OutputEntry> published_intents_;  // by output
  std::set<std::string> emptied_roots_;                           // roots
  std::unordered_set<std::string> folders_with_inputs_;           // folders
  std::map<std::string, std::vector<Candidate>> by_folder_;
  Orphans orphans_;
};

Orphans find_orphans_in(const PruneRequest& request, ledger::Ledger& ledger) {
  return OrphanSearch(request, ledger).take_orphans();
}

void remove_intents(ledger::Ledger& ledger, const std::string& key) {
  ledger::LedgerChanges changes;
  for (const ledger::OutputEntry& intent : ledger.intents(key))
    changes.abandoned_intents.push_back({key, intent.bytes, intent.output_mtime_ns});
  ledger.record(changes);
}

}  // namespace

std::string uncertain_orphans_text(const std::string& root, bool include_empty) {
  if (is_missing(root))
    return "it is missing. If it was moved, process it at its new place; if it was deleted, create "
           "it as an empty folder, and use eckart prune --include-empty";
  return include_empty ? "its inputs may exist elsewhere"
                       : "a folder has no inputs left. If no disk is missing, use eckart prune "
                         "--include-empty";
}

Orphans find_orphans(const PruneRequest& request) {
  return find_orphans_in(request, *open_existing_ledger(request.output, request.ledger));
}

Orphans prune(const PruneRequest& request,
              const std::function<void(const Orphan& orphan)>& on_removed) {
  static_cast<void>(
      open_existing_ledger(request.output, request.ledger));  // Ledger's constructor would make one
  const io::FolderLock lock(request.output);
  ledger::Ledger ledger(ledger_file(request.output, request.ledger), logged_ledger_options());
  const LedgerOutputs known(ledger, request.output, request.ledger);
  const files::FileDescriptor folder = open_folder(request.output);
  Orphans orphans = find_orphans_in(request, ledger);
  for (const Orphan& orphan : orphans.removable) {
    const std::string key = known.ledger_key(orphan.output);
    const ContainedFile file(folder, orphan.output);
    const pipeline::RecordedOutput recorded =
        pipeline::find_recorded_output(ledger, key, file.status());
    const auto& entry = recorded.entry;
    lock.check_not_replaced();
    if (!entry || !is_missing(entry->input) ||
        !file.matches_record(entry->bytes, entry->output_mtime_ns) || !file.remove())
      continue;
    ledger.remove_outputs([&] { return std::vector{key}; });
    remove_intents(ledger, key);
    on_removed(orphan);
  }
  return orphans;
}

}  // namespace eckart::app
