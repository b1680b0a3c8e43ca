#include "app/watch_conflicts.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "io/is_within.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using io::is_within;
using settings::WatchSettings;

/// Returns whether the watch finds files that are put into this folder.
bool arrives_in(const std::filesystem::path& folder, const WatchSettings& to) {
  if (folder.empty() || !is_within(folder, to.input)) return false;
  return std::none_of(to.exclude.begin(), to.exclude.end(),
                      [&](const auto& excluded) { return is_within(folder, to.input / excluded); });
}

/// Returns whether the outputs or moved inputs of `from` are inputs of `to`.
bool feeds_into(const WatchSettings& from, const WatchSettings& to) {
  return arrives_in(from.output, to) || arrives_in(from.move_to, to);
}

[[noreturn]] void reject_loop(const WatchSettings& watch, const WatchSettings& last) {
  const std::string files = arrives_in(last.output, watch) ? "outputs" : "moved inputs";
  const std::string whose_files =
      &last == &watch ? "its " + files : "the " + files + " of " + last.location;
  throw FatalError(ExitCode::configuration,
                   watch.location + ": " + whose_files + " are in its input folder " +
                       text::printable(watch.input.native()) +
                       " and would be processed again as inputs. Choose a folder outside of it, or "
                       "set exclude");
}

/// Rejects watches whose outputs would become their own inputs, directly or through other watches,
/// because such a loop never ends.
void check_no_loops(const std::vector<WatchSettings>& watches) {
  for (const WatchSettings& first : watches) {
    std::vector<const WatchSettings*> reached{&first};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const WatchSettings& next : watches) {
        if (!feeds_into(*reached[i], next)) continue;
        if (&next == &first) reject_loop(first, *reached[i]);
        if (std::find(reached.begin(), reached.end(), &next) == reached.end())
          reached.push_back(&next);
      }
    }
  }
}

bool overlap(const fs::path& a, const fs::path& b) { return is_within(a, b) || is_within(b, a); }

/// Returns whether the input of `inner` is in a scanned part of the input of `outer`.
bool is_input_below(const WatchSettings& inner, const WatchSettings& outer) {
  if (!is_within(inner.input, outer.input)) return false;
  return std::none_of(outer.exclude.begin(), outer.exclude.end(), [&](const fs::path& excluded) {
    return is_within(inner.input, outer.input / excluded);
  });
}

/// Rejects watches whose output folders overlap, or whose inputs another watch removes.
void check_no_overlaps(const std::vector<WatchSettings>& watches) {
  const auto reject = [](const WatchSettings& watch, const char* folders, const fs::path& a,
                         const fs::path& b) {
    throw FatalError(ExitCode::configuration, watch.location + ": " + folders +
                                                  text::printable(a.native()) + " and " +
                                                  text::printable(b.native()) + " overlap");
  };
  for (const WatchSettings& a : watches) {
    for (const WatchSettings& b : watches) {
      if (!b.move_to.empty() && overlap(a.output, b.move_to))
        reject(b, "output and move_to folders ", a.output, b.move_to);
      if (&a == &b) continue;
      if (a.keeps_inputs() && !b.keeps_inputs() && arrives_in(a.output, b))
        throw FatalError(ExitCode::configuration,
                         a.location + ": its outputs are inputs of " + b.location +
                             ", which removes them (after: " + to_string(b.after) +
                             "). Each removed output would be made again. Set after: delete or "
                             "after: move in " +
                             a.location + ", or after: keep in " + b.location);
      if (overlap(a.output, b.output)) reject(a, "output folders ", a.output, b.output);
      if ((!a.keeps_inputs() || !b.keeps_inputs()) && is_input_below(a, b))
        reject(a, "input folders (one watch moves or deletes its inputs) ", a.input, b.input);
    }
  }
}

}  // namespace

std::vector<fs::path> own_folders_of(const WatchSettings& watch,
                                     const std::vector<WatchSettings>& watches) {
  std::vector<fs::path> folders;
  for (const WatchSettings& each : watches) {
    for (const fs::path* folder : {&each.output, &each.move_to}) {
      if (!folder->empty() && !arrives_in(*folder, watch)) folders.push_back(*folder);
    }
  }
  return folders;
}

void check_watch_conflicts(const std::vector<WatchSettings>& watches) {
  check_no_overlaps(watches);
  check_no_loops(watches);
}

}  // namespace eckart::app
