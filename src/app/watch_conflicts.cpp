#include "app/watch_conflicts.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "io/is_within.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using io::RealPath;
using settings::WatchSettings;

/// The folders of a watch. Each is resolved once, because each is compared with those of all
/// watches.
struct WatchFolders {
  explicit WatchFolders(const WatchSettings& settings)
      : watch(settings), input(watch.input), output(watch.output), move_to(watch.move_to) {
    for (const fs::path& folder : watch.exclude) excluded.emplace_back(watch.input / folder);
  }

  const WatchSettings& watch;
  RealPath input, output;
  RealPath move_to;                ///< not in any folder if it is not set
  std::vector<RealPath> excluded;  ///< folders of the input that are not scanned
};

std::vector<WatchFolders> resolve_folders(const std::vector<WatchSettings>& watches) {
  return {watches.begin(), watches.end()};
}

/// Returns whether the watch finds files that are put into this folder.
bool arrives_in(const RealPath& folder, const WatchFolders& to) {
  if (!folder.is_within(to.input)) return false;
  return std::none_of(to.excluded.begin(), to.excluded.end(),
                      [&](const RealPath& excluded) { return folder.is_within(excluded); });
}

/// Returns whether the outputs or moved inputs of `from` are inputs of `to`.
bool feeds_into(const WatchFolders& from, const WatchFolders& to) {
  return arrives_in(from.output, to) || arrives_in(from.move_to, to);
}

[[noreturn]] void reject_loop(const WatchFolders& first, const WatchFolders& last) {
  const WatchSettings& watch = first.watch;
  const std::string files = arrives_in(last.output, first) ? "outputs" : "moved inputs";
  const std::string whose_files =
      &last == &first ? "its " + files : "the " + files + " of " + last.watch.location;
  throw FatalError(ExitCode::configuration,
                   watch.location + ": " + whose_files + " are in its input folder " +
                       text::printable(watch.input.native()) +
                       " and would be processed again as inputs. Choose a folder outside of it, or "
                       "set exclude");
}

/// Rejects watches whose outputs would become their own inputs, directly or through other watches,
/// because such a loop never ends.
void check_no_loops(const std::vector<WatchFolders>& watches) {
  std::vector<std::vector<std::size_t>> fed_by(watches.size());  // by watch
  for (std::size_t from = 0; from < watches.size(); ++from) {
    for (std::size_t to = 0; to < watches.size(); ++to) {
      if (feeds_into(watches[from], watches[to])) fed_by[from].push_back(to);
    }
  }
  for (std::size_t first = 0; first < watches.size(); ++first) {
    std::vector<std::size_t> reached{first};
    std::vector<bool> is_reached(watches.size());
    is_reached[first] = true;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const std::size_t next : fed_by[reached[i]]) {
        if (next == first) reject_loop(watches[first], watches[reached[i]]);
        if (!is_reached[next]) reached.push_back(next);
        is_reached[next] = true;
      }
    }
  }
}

bool overlap(const RealPath& a, const RealPath& b) { return a.is_within(b) || b.is_within(a); }

/// Rejects watches whose output folders overlap, or whose inputs another watch removes.
void check_no_overlaps(const std::vector<WatchFolders>& watches) {
  const auto reject = [](const WatchSettings& watch, const char* folders, const fs::path& a,
                         const fs::path& b) {
    throw FatalError(ExitCode::configuration, watch.location + ": " + folders +
                                                  text::printable(a.native()) + " and " +
                                                  text::printable(b.native()) + " overlap");
  };
  for (const WatchFolders& folders : watches) {
    for (const WatchFolders& others : watches) {
      const WatchSettings &a = folders.watch, &b = others.watch;
      if (overlap(folders.output, others.move_to))
        reject(b, "output and move_to folders ", a.output, b.move_to);
      if (&a == &b) continue;
      if (a.keeps_inputs() && !b.keeps_inputs() && arrives_in(folders.output, others))
        throw FatalError(ExitCode::configuration,
                         a.location + ": its outputs are inputs of " + b.location +
                             ", which removes them (after: " + to_string(b.after) +
                             "). Each removed output would be made again. Set after: delete or "
                             "after: move in " +
                             a.location + ", or after: keep in " + b.location);
      if (overlap(folders.output, others.output)) reject(a, "output folders ", a.output, b.output);
      if ((!a.keeps_inputs() || !b.keeps_inputs()) && arrives_in(folders.input, others))
        reject(a, "input folders (one watch moves or deletes its inputs) ", a.input, b.input);
    }
  }
}

}  // namespace

std::vector<io::OwnFolders> own_folders_of(const std::vector<WatchSettings>& watches) {
  const std::vector<WatchFolders> resolved = resolve_folders(watches);
  struct Folder {
    io::OwnFolders::Folder shared;
    const RealPath& real;
  };
  std::vector<Folder> folders;  // of all watches
  for (const WatchFolders& each : resolved) {
    const WatchSettings& watch = each.watch;
    folders.push_back({std::make_shared<const fs::path>(watch.output), each.output});
    if (!watch.move_to.empty())
      folders.push_back({std::make_shared<const fs::path>(watch.move_to), each.move_to});
  }
  std::vector<io::OwnFolders> own_folders;
  for (const WatchFolders& watch : resolved) {
    std::vector<io::OwnFolders::Folder> own;
    for (const Folder& folder : folders) {
      if (!arrives_in(folder.real, watch)) own.push_back(folder.shared);
    }
    own_folders.emplace_back(std::move(own));
  }
  return own_folders;
}

void check_watch_conflicts(const std::vector<WatchSettings>& watches) {
  const std::vector<WatchFolders> resolved = resolve_folders(watches);
  check_no_overlaps(resolved);
  check_no_loops(resolved);
}

}  // namespace eckart::app
