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

Requeued put_back(const fs::path& reason_file) {
  const fs::path file = io::file_of_reason(reason_file);
  const auto input = telemetry::input_of(text_of(reason_file));
  if (!input)
    return {file, "its reason, " + reason_file.string() + ", does not say whence it came"};
  std::error_code none;
  try {
    const bool was_moved = fs::symlink_status(file, none).type() != fs::file_type::not_found;
    if (was_moved && !io::move_file(file, *input)) return {*input, "there is another file by now"};
    fs::remove(reason_file, none);
    return {*input, {}};
  } catch (const std::runtime_error& error) {
    return {*input, error.what()};
  }
}

/// Those of the files that are named; all where none is.
std::vector<fs::path> chosen(const std::vector<fs::path>& reason_files, const fs::path& folder,
                             const std::vector<std::string>& names) {
  std::set<std::string> missing(names.begin(), names.end());
  std::vector<fs::path> files;
  for (const fs::path& reason_file : reason_files) {
    const fs::path file = io::file_of_reason(reason_file);
    bool named = names.empty();
    for (const std::string& name : names) {
      if (name != file.filename() && name != file.lexically_relative(folder)) continue;
      missing.erase(name);
      named = true;
    }
    if (named) files.push_back(reason_file);
  }
  if (missing.empty()) return files;
  throw FatalError(ExitCode::no_input, printable(*missing.begin()) + ": not in the quarantine " +
                                           printable(folder.native()));
}

}  // namespace

std::vector<Requeued> requeue(const fs::path& output, const std::vector<std::string>& names) {
  const fs::path folder = io::quarantine_folder(output);
  std::vector<Requeued> requeued;
  for (const fs::path& reason_file : chosen(io::reason_files(folder), folder, names))
    requeued.push_back(put_back(reason_file));
  const bool any = std::any_of(requeued.begin(), requeued.end(),
                               [](const Requeued& one) { return one.why_not.empty(); });
  if (any) io::publish_file(note_of(output), {});
  return requeued;
}

bool take_requeue_note(const fs::path& output) { return ::unlink(note_of(output).c_str()) == 0; }

}  // namespace eckart::app
