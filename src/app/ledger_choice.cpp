#include "app/ledger_choice.hpp"

#include <string>
#include <system_error>

#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

fs::path own_ledger_file(const fs::path& output) {
  return output / files::kStateFolder / "ledger.db";
}

}  // namespace

fs::path ledger_file(const fs::path& output, const settings::FileChoice& choice) {
  if (choice.is_none()) return {};
  if (choice.is_auto()) return own_ledger_file(output);
  if (is_own_ledger(output, choice)) return choice.file;
  std::error_code none;
  const fs::path folder = fs::weakly_canonical(choice.file, none).parent_path();
  if (folder.filename() == files::kStateFolder)
    throw FatalError(ExitCode::usage, "ledger " + text::printable(choice.file.native()) +
                                          " belongs to " +
                                          text::printable(folder.parent_path().native()) +
                                          "; use a ledger file outside any folder named " +
                                          std::string(files::kStateFolder));
  return choice.file;
}

bool is_own_ledger(const fs::path& output, const settings::FileChoice& choice) {
  if (choice.is_auto()) return true;
  if (choice.is_none()) return false;
  std::error_code none;
  return fs::weakly_canonical(choice.file, none) ==
         fs::weakly_canonical(own_ledger_file(output), none);
}

}  // namespace eckart::app
