#include "pipeline/output_place.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/printable.hpp"
#include "io/file_comparison.hpp"

namespace eckart {
namespace {

namespace fs = std::filesystem;
using Kind = OutputPlace::Kind;

std::int64_t in_ns(const timespec& time) {
  constexpr std::uint64_t kSecond = 1000000000;  // wraps as FileState does
  return std::int64_t(std::uint64_t(time.tv_sec) * kSecond + std::uint64_t(time.tv_nsec));
}

/// To the nanosecond: no file of somebody else was written at the same time.
bool is_this_file(const ledger::Entry& known, const Standing& standing) {
  return known.bytes == standing.bytes && known.output_mtime_ns == standing.mtime_ns;
}

/// By its time, or what a file system keeps of it: NTFS, those of 1 us, exFAT, those of 1 s, FAT.
bool is_as_made(const ledger::Entry& known, const Standing& standing) {
  constexpr std::int64_t kUnits_ns[] = {1, 100, 1000, 10000000, 1000000000, 2000000000};
  if (known.output_mtime_ns == 0) return true;  // not known
  const std::int64_t difference = std::abs(standing.mtime_ns - known.output_mtime_ns);
  return std::any_of(std::begin(kUnits_ns), std::end(kUnits_ns), [&](std::int64_t unit) {
    return standing.mtime_ns % unit == 0 && difference < unit;
  });
}

OutputPlace judge_made(const WantedOutput& wanted, const ledger::Entry& known, SameInput same) {
  if (known.run < wanted.first_run) return {Kind::redone, "--overwrite"};
  if (same == SameInput::changed) return {Kind::redone, "its input has changed"};
  if (known.settings != wanted.settings && wanted.on_change != OnChange::keep)
    return {.kind = wanted.on_change == OnChange::redo ? Kind::redone : Kind::taken,
            .why = "made with other settings",
            .made_with_other = true};
  return {Kind::same, "done before", known.report};
}

/// It is whole, but what it says of its quality was not recorded: it is made once more, unless the
/// result of other settings is to stay.
OutputPlace judge_announced(const WantedOutput& wanted, const ledger::Entry& announced,
                            SameInput same) {
  OutputPlace place = judge_made(wanted, announced, same);
  if (place.kind == Kind::same && announced.settings == wanted.settings)
    return {Kind::redone, "a run was killed when it published it"};
  return place;
}

OutputPlace judge_file(const WantedOutput& wanted, const KnownOutput& of_ledger,
                       const Standing& standing) {
  if (!of_ledger.entry) return {Kind::unknown, "not in the ledger"};
  const ledger::Entry& known = *of_ledger.entry;
  const SameInput same = same_input(known, wanted.input);
  if (same == SameInput::no || same == SameInput::maybe)
    return {Kind::taken, "a result of " + printable(known.input)};
  if (of_ledger.is_announced) return judge_announced(wanted, known, same);
  const std::int64_t bytes = standing.bytes;
  if (known.bytes != bytes)
    return {.kind = Kind::unknown,
            .why = "changed after it was made: " + grouped(bytes) + " bytes, not " +
                   grouped(known.bytes),
            .is_ours = true};
  OutputPlace place = judge_made(wanted, known, same);
  const bool would_be_replaced = place.kind == Kind::redone && wanted.first_run == 0;
  if (would_be_replaced && !is_as_made(known, standing))
    return {.kind = Kind::unknown,
            .why = "changed after it was made, and " + place.why,
            .is_ours = true};
  return place;
}

/// What is no directory though something is to be below it; empty where there is none.
fs::path obstacle_above(const fs::path& path) {
  std::error_code none;
  fs::path above = path.parent_path();
  while (above.has_relative_path() && !fs::exists(above, none)) above = above.parent_path();
  return fs::is_directory(above, none) ? fs::path() : above;
}

}  // namespace

Standing look_at(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOTDIR) return {.obstacle = obstacle_above(path)};
    if (errno == ENOENT || errno == ENAMETOOLONG) return {};
    return {.type = fs::file_type::none, .error = errno};
  }
  struct stat target {};
  if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &target) == 0 && S_ISREG(target.st_mode))
    status = target;
  Standing standing{
      .type = fs::file_type::unknown, .bytes = status.st_size, .mtime_ns = in_ns(status.st_mtim)};
  if (S_ISREG(status.st_mode)) standing.type = fs::file_type::regular;
  if (S_ISDIR(status.st_mode)) standing.type = fs::file_type::directory;
  return standing;
}

KnownOutput find_known(ledger::Ledger& ledger, const std::string& output,
                       const Standing& standing) {
  KnownOutput known{ledger.find(output)};
  if (known.entry && is_this_file(*known.entry, standing)) return known;
  auto announced = ledger.find_announced({output, standing.bytes, standing.mtime_ns});
  return announced ? KnownOutput{std::move(announced), true} : known;
}

OutputPlace judge(const WantedOutput& wanted, const KnownOutput& known, const Standing& standing) {
  if (!standing.obstacle.empty())
    return {.kind = Kind::taken,
            .why = printable(standing.obstacle.native()) + " is not a directory",
            .may_be_replaced = false};
  if (standing.type == fs::file_type::none)
    return {.kind = Kind::taken,
            .why = "it cannot be looked at: " + std::generic_category().message(standing.error),
            .may_be_replaced = false};
  if (standing.type == fs::file_type::not_found) {
    const SameInput same = known.entry ? same_input(*known.entry, wanted.input) : SameInput::no;
    const bool was_there = same == SameInput::yes || same == SameInput::changed;
    return was_there ? OutputPlace{Kind::redone, "it is gone"} : OutputPlace{};
  }
  if (standing.type == fs::file_type::directory)
    return {.kind = Kind::taken, .why = "a directory", .may_be_replaced = false};
  OutputPlace place{Kind::taken, "no regular file"};
  if (standing.type == fs::file_type::regular) place = judge_file(wanted, known, standing);
  if (wanted.first_run > 0 && place.kind != Kind::same) return {Kind::redone, "--overwrite"};
  return place;
}

void refuse(const std::filesystem::path& output, const OutputPlace& place) {
  std::string advice = "move it away, or use another output folder or output.name";
  if (place.may_be_replaced)
    advice = "move it away, use another output folder or output.name, or " +
             std::string(place.made_with_other ? "make it again with --redo"
                                               : "replace it with eckart run --overwrite");
  throw ItemError(Reason::output_collision,
                  printable(output.native()) + " is in the way (" + place.why + "): " + advice);
}

io::AtTakenPlace decide(const OutputPlace& place, const std::filesystem::path& output,
                        const std::filesystem::path& written) {
  if (place.kind == Kind::taken) refuse(output, place);
  if (place.kind != Kind::unknown) return io::AtTakenPlace::replace;
  const io::Likeness likeness = io::compare(output, written);
  if (likeness == io::Likeness::same) return io::AtTakenPlace::keep;
  if (likeness == io::Likeness::beginning && place.is_ours) return io::AtTakenPlace::replace;
  refuse(output, place);
}

}  // namespace eckart
