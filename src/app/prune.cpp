#include "app/prune.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

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

/// Whether the folder that the input was in, or one around it in its root, is there and no link. Of
/// an input whose root is not known its own folder has to be.
bool may_be_emptied(const ledger::Entry& entry) {
  const auto is_folder = [](const fs::path& path) {
    std::error_code none;
    return fs::symlink_status(path, none).type() == fs::file_type::directory;
  };
  const bool knows_root = entry.root_size > 1;
  fs::path folder = fs::path(entry.input).parent_path();
  while (knows_root && !is_folder(folder) && folder.native().size() >= entry.root_size)
    folder = folder.parent_path();
  return is_folder(folder);
}

class Search {
 public:
  Search(const PruneRequest& request, ledger::Ledger& ledger)
      : include_empty_(request.include_empty),
        folder_(open_folder(request.output)),
        ledger_(ledger) {}

  void look_at(const ledger::Entry& entry) {
    if (entry.state.size < 0) takes_away_.insert(root_of(entry));
    if (entry.state.size < 0) return;
    if (!is_gone(entry.input)) {
      has_inputs_.insert(folder_of(entry));
    } else if (!ledger_.find_failure(entry.input)) {
      look_at_orphan(entry);
    }
  }

  Orphans found() && {
    for (auto& [folder, candidates] : by_folder_) {
      for (Candidate& one : candidates) {
        const bool is_certain =
            !takes_away_.contains(one.root) &&
            (has_inputs_.contains(folder) || (include_empty_ && one.may_be_emptied));
        if (is_certain) {
          orphans_.results.push_back(std::move(one.result));
        } else {
          ++orphans_.held_back[one.root];
        }
      }
    }
    std::sort(orphans_.results.begin(), orphans_.results.end(),
              [](const Orphan& a, const Orphan& b) { return a.output < b.output; });
    return std::move(orphans_);
  }

 private:
  struct Candidate {
    Orphan result;
    std::string root;
    bool may_be_emptied = false;
  };

  static std::string folder_of(const ledger::Entry& entry) {
    return fs::path(entry.input).parent_path();
  }

  void look_at_orphan(const ledger::Entry& entry) {
    const FileBelow file(folder_, entry.output);
    if (file.is_missing()) return;
    if (entry.output_mtime_ns == 0) {
      ++orphans_.undated;
    } else if (!file.is_as_recorded(entry.bytes, entry.output_mtime_ns)) {
      ++orphans_.changed;
    } else if (is_below_another_root(entry)) {
      ++orphans_.held_back[root_of(entry)];
    } else {
      by_folder_[folder_of(entry)].push_back(
          {{entry.output, entry.input}, root_of(entry), include_empty_ && may_be_emptied(entry)});
    }
  }

  /// Where the row is of a copy of the input that is gone: the input itself may still be there.
  bool is_below_another_root(const ledger::Entry& entry) const {
    const std::string relative = entry.input.substr(entry.root_size);
    return std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
      return root.size() > 1 && root != root_of(entry) && !is_gone(root + relative);
    });
  }

  const bool include_empty_;
  const Descriptor folder_;
  ledger::Ledger& ledger_;
  const std::vector<std::string> roots_{ledger_.roots()};
  std::set<std::string> takes_away_;            // roots
  std::unordered_set<std::string> has_inputs_;  // folders
  std::map<std::string, std::vector<Candidate>> by_folder_;
  Orphans orphans_;
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
  const Descriptor folder = open_folder(request.output);
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
