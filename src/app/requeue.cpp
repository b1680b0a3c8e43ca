#include "app/requeue.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/state_folder.hpp"
#include "io/publication.hpp"
#include "io/quarantine.hpp"
#include "io/root_directory.hpp"
#include "io/taken_file.hpp"
#include "telemetry/reason_note.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

fs::path note_of(const fs::path& output) { return output / kStateFolder / "requeued"; }

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Quarantined {
  fs::path reason_file;
  fs::path place;                 ///< of the file, which is not there where the input has stayed
  std::optional<fs::path> input;  ///< whence it came, where its reason says so
  fs::path root;                  ///< the watched folder around it, likewise
};

std::vector<Quarantined> all_in(const fs::path& folder) {
  std::vector<Quarantined> all;
  for (const fs::path& file : io::reason_files(folder)) {
    Quarantined& one = all.emplace_back(Quarantined{file, io::file_of_reason(file), {}, {}});
    const auto from = telemetry::input_of(text_of(file));
    if (!from) continue;
    one.input = from->input;
    one.root = from->root;
  }
  return all;
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() != fs::file_type::not_found;
}

/// The folder that the input came from, made if it is missing. No link is followed below the
/// watched folder; below `/` where the reason does not say which folder that was.
io::DirectoryPtr open_folder_of(const Quarantined& one) {
  const fs::path root_path = one.root.empty() ? fs::path("/") : one.root;
  const auto fail = [&](int error) {
    std::string message = "the folder that it came from cannot be opened below " +
                          root_path.string() + ": " + std::generic_category().message(error);
    if (error == ELOOP || error == ENOTDIR || error == EXDEV)
      message += ". A symbolic link, or something that is no folder, is in its path: move " +
                 one.place.string() + " to where it belongs yourself";
    throw ItemError(Reason::not_written, message);
  };
  const io::RootDirectoryPtr root = io::RootDirectory::open(root_path);
  if (!root) fail(errno);
  io::DirectoryPtr folder =
      root->make_below(one.input->lexically_relative(root_path).parent_path());
  if (!folder) fail(errno);
  return folder;
}

/// Whether it is there by now; false where another file has its name.
bool move_back(const Quarantined& one, const io::RootDirectory& quarantine) {
  const fs::path relative = one.place.lexically_relative(quarantine.path());
  const io::DirectoryPtr from = quarantine.open_below(relative.parent_path());
  if (!from) throw ItemError(Reason::not_written, "the quarantine has changed meanwhile");
  const io::DirectoryPtr to = open_folder_of(one);
  return io::move_file({*from, relative.filename(), one.place},
                       {*to, one.input->filename(), *one.input});
}

Requeued put_back(const Quarantined& one, const io::RootDirectory& quarantine) {
  if (!one.input)
    return {one.place, "its reason, " + one.reason_file.string() + ", does not say whence it came"};
  const fs::path& input = *one.input;
  try {
    const bool was_moved = !io::is_note(one.reason_file) && is_there(one.place),
               is_gone = !was_moved && !is_there(input);
    if (was_moved && !move_back(one, quarantine)) return {input, "there is another file by now"};
    const fs::path reason_file = one.reason_file.lexically_relative(quarantine.path());
    static_cast<void>(quarantine.remove_below(reason_file));
    io::remove_empty_folders(quarantine, reason_file);
    return {input, is_gone ? "it is gone" : ""};
  } catch (const std::runtime_error& error) {
    return {input, error.what()};
  }
}

/// Those of the files that are named; all where none is.
std::vector<Quarantined> chosen(std::vector<Quarantined> all, const fs::path& folder,
                                const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::set<std::string> missing(names.begin(), names.end());
  const auto is_named = [&](const Quarantined& one) {
    bool named = false;
    for (const std::string& name : names) {
      const bool is_it = name == one.place.filename() ||
                         name == one.place.lexically_relative(folder) || name == one.place ||
                         (one.input && (name == *one.input || name == one.input->filename()));
      if (is_it) missing.erase(name);
      named |= is_it;
    }
    return named;
  };
  std::erase_if(all, [&](const Quarantined& one) { return !is_named(one); });
  if (missing.empty()) return all;
  throw FatalError(ExitCode::no_input, printable(*missing.begin()) + ": not in the quarantine " +
                                           printable(folder.native()));
}

}  // namespace

std::vector<Requeued> requeue(const fs::path& output, const std::vector<std::string>& names) {
  if (!is_there(output / kStateFolder))
    throw FatalError(ExitCode::no_input,
                     printable(output.native()) + ": nothing was ever written here by eckart");
  const fs::path folder = io::quarantine_folder(output);
  std::vector<Requeued> requeued;
  const std::vector<Quarantined> files = chosen(all_in(folder), folder, names);
  const io::RootDirectoryPtr quarantine = io::RootDirectory::open(folder);
  if (files.empty() || !quarantine) return requeued;
  for (const Quarantined& one : files) requeued.push_back(put_back(one, *quarantine));
  const bool any = std::any_of(requeued.begin(), requeued.end(),
                               [](const Requeued& one) { return one.why_not.empty(); });
  if (any) io::publish_file(note_of(output), {});
  return requeued;
}

bool take_requeue_note(const fs::path& output) { return ::unlink(note_of(output).c_str()) == 0; }

}  // namespace eckart::app
