#include "app/requeue.hpp"

#include <unistd.h>

#include <algorithm>
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
};

std::vector<Quarantined> all_in(const fs::path& folder) {
  std::vector<Quarantined> all;
  for (const fs::path& file : io::reason_files(folder))
    all.push_back({file, io::file_of_reason(file), telemetry::input_of(text_of(file))});
  return all;
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::symlink_status(path, none).type() != fs::file_type::not_found;
}

Requeued put_back(const Quarantined& one, const fs::path& folder) {
  if (!one.input)
    return {one.place, "its reason, " + one.reason_file.string() + ", does not say whence it came"};
  const fs::path& input = *one.input;
  try {
    const bool was_moved = is_there(one.place), is_gone = !was_moved && !is_there(input);
    if (was_moved && !io::move_file(one.place, input))
      return {input, "there is another file by now"};
    std::error_code none;
    fs::remove(one.reason_file, none);
    io::remove_empty_folders(folder, one.place);
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
  for (const Quarantined& one : chosen(all_in(folder), folder, names))
    requeued.push_back(put_back(one, folder));
  const bool any = std::any_of(requeued.begin(), requeued.end(),
                               [](const Requeued& one) { return one.why_not.empty(); });
  if (any) io::publish_file(note_of(output), {});
  return requeued;
}

bool take_requeue_note(const fs::path& output) { return ::unlink(note_of(output).c_str()) == 0; }

}  // namespace eckart::app
