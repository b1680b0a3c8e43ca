#include "app/prune.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "app/job.hpp"
#include "app/known_outputs.hpp"
#include "io/folder_lock.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

std::string root_of(const ledger::Entry& entry) { return entry.input.substr(0, entry.root_size); }

/// False where that cannot be known.
bool is_gone(const std::string& input) {
  struct stat status {};
  return ::lstat(input.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool is_folder_with_entries(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return !error && entries != fs::directory_iterator();
}

/// Whether the folder that the input was in, or what is left of its path, is there and has entries:
/// the folder of a disk that is not mounted is empty. Of an input whose root is not known its own
/// folder has to be there.
bool was_deleted(const ledger::Entry& entry, bool include_empty) {
  const bool knows_root = entry.root_size > 1;
  const fs::path root = root_of(entry);
  fs::path folder = fs::path(entry.input).parent_path();
  std::error_code none;
  if (knows_root && !fs::is_directory(root, none)) return false;
  while (knows_root && !fs::is_directory(folder, none) && folder.native().size() >= entry.root_size)
    folder = folder.parent_path();
  return include_empty ? fs::is_directory(folder, none) : is_folder_with_entries(folder);
}

class Search {
 public:
  Search(const PruneRequest& request, ledger::Ledger& ledger)
      : include_empty_(request.include_empty),
        folder_(open_folder(request.output)),
        ledger_(ledger) {}

  void look_at(const ledger::Entry& entry) {
    const std::string root = root_of(entry);
    if (entry.state.size < 0) takes_away_.insert(root);
    if (entry.state.size < 0 || entry.bytes < 0) return;
    if (!is_gone(entry.input)) {
      has_inputs_.insert(root);
    } else if (!ledger_.find_failure(entry.input)) {
      look_at_orphan(entry, root);
    }
  }

  Orphans found() && {
    Orphans orphans{.results = {}, .changed = changed_, .held_back = std::move(held_back_)};
    for (auto& [root, results] : by_root_) {
      const bool is_certain =
          !takes_away_.contains(root) && (include_empty_ || has_inputs_.contains(root));
      if (!is_certain) {
        orphans.held_back[root] += std::int64_t(results.size());
        continue;
      }
      for (Orphan& result : results) orphans.results.push_back(std::move(result));
    }
    return orphans;
  }

 private:
  void look_at_orphan(const ledger::Entry& entry, const std::string& root) {
    const FileBelow file(folder_, entry.output);
    if (file.is_missing()) return;
    if (!file.is_as_recorded(entry.bytes, entry.output_mtime_ns)) {
      ++changed_;
    } else if (!was_deleted(entry, include_empty_)) {
      ++held_back_[root];
    } else {
      by_root_[root].push_back({entry.output, entry.input});
    }
  }

  const bool include_empty_;
  const io::Descriptor folder_;
  ledger::Ledger& ledger_;
  std::set<std::string> takes_away_, has_inputs_;  // roots
  std::map<std::string, std::vector<Orphan>> by_root_;
  std::map<std::string, std::int64_t> held_back_;
  std::int64_t changed_ = 0;
};

Orphans find_in(const PruneRequest& request, ledger::Ledger& ledger) {
  Search search(request, ledger);
  KnownOutputs(ledger, request.output, request.ledger).each([&](const ledger::Entry& entry) {
    search.look_at(entry);
  });
  return std::move(search).found();
}

}  // namespace

Orphans find_orphans(const PruneRequest& request) {
  return find_in(request, *read_ledger(request.output, request.ledger));
}

void prune(const PruneRequest& request,
           const std::function<void(const Orphan& orphan)>& on_removed) {
  static_cast<void>(read_ledger(request.output, request.ledger));  // else one would be made
  const io::FolderLock lock(request.output);
  ledger::Ledger ledger(ledger_file(request.output, request.ledger));
  const KnownOutputs known(ledger, request.output, request.ledger);
  const io::Descriptor folder = open_folder(request.output);
  for (const Orphan& orphan : find_in(request, ledger).results) {
    const auto entry = ledger.find(known.ledger_name(orphan.output));
    const FileBelow file(folder, orphan.output);
    lock.check_in_place();
    if (!entry || !is_gone(entry->input) ||
        !file.is_as_recorded(entry->bytes, entry->output_mtime_ns) || !file.remove())
      continue;
    ledger.forget([&] { return std::vector{known.ledger_name(orphan.output)}; });
    on_removed(orphan);
  }
}

}  // namespace eckart::app
