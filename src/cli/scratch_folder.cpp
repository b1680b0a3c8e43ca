#include "cli/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "core/error.hpp"
#include "io/environment_error.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

fs::path temporary_folder() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error)
    throw FatalError(ExitCode::cannot_create,
                     "there is no temporary folder (" + error.message() +
                         "): set TMPDIR, or give a scratch folder with -o FOLDER");
  return folder;
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& parent) {
  const fs::path folder = parent.empty() ? temporary_folder() : parent;
  std::error_code error;
  fs::create_directories(folder, error);
  std::string name = (folder / "eckart-bench-XXXXXX").string();
  if (!error && !::mkdtemp(name.data())) error = {errno, std::generic_category()};
  if (error)
    io::fail_to_create(
        error.value(),
        "cannot create a folder in " + text::printable(folder.native()) + ": " + error.message());
  path_ = fs::absolute(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace eckart::cli
