#include "ledger/ledger_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <vector>

#include "core/error.hpp"
#include "files/link_chain.hpp"
#include "files/state_folder.hpp"
#include "ledger/database.hpp"
#include "ledger/schema.hpp"
#include "text/printable.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

/// All files in a state folder belong to eckart, damaged or not. Files that links in it lead to may
/// be of anyone.
bool has_state_folder_parent(const fs::path& absolute) {
  return absolute.parent_path().filename() == files::kStateFolder;
}

/// The file that links lead to: a damaged ledger is renamed, not the link to it.
fs::path link_target(const fs::path& path) {
  std::error_code error;
  const fs::path last = files::link_chain(path).back();
  if (last == path) return path;
  const fs::path canonical = fs::weakly_canonical(last, error);
  return error ? last : canonical;
}

/// The application_id in the header of the file, even if SQLite cannot read the rest; 0 if it is
/// too short.
std::uint32_t read_application_id(const fs::path& file) {
  constexpr std::size_t kApplicationIdOffset = 68;
  std::array<unsigned char, kDatabaseHeaderBytes> header{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(header.data()), header.size())) return 0;
  std::uint32_t application_id = 0;
  for (std::size_t i = 0; i < 4; ++i)
    application_id = application_id << 8 | header[kApplicationIdOffset + i];
  return application_id;
}

/// SQLite would wait for a pipe, and write to the target of a link.
void check_companions(const fs::path& file) {
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    const fs::path companion = file.native() + suffix;
    std::error_code none;
    const fs::file_type type = fs::symlink_status(companion, none).type();
    if (type != fs::file_type::regular && type != fs::file_type::not_found &&
        type != fs::file_type::none)
      throw FatalError(ExitCode::usage,
                       text::printable(companion.native()) + ": not a regular file; remove it");
  }
}

}  // namespace

LedgerLocation::LedgerLocation(const fs::path& path) : file(link_target(path)) {
  std::vector<fs::path> candidates = files::link_chain(path);
  candidates.push_back(file);
  for (const fs::path& candidate : candidates) {
    std::error_code ignored;
    const fs::path absolute = fs::absolute(candidate, ignored).lexically_normal();
    if (!has_state_folder_parent(absolute)) continue;
    output_root = absolute.parent_path().parent_path();
    return;
  }
}

void check_ledger_file(const LedgerLocation& location, std::chrono::milliseconds timeout) {
  const fs::path& file = location.file;
  check_companions(file);
  std::error_code size_error;
  const fs::file_type type = fs::status(file, size_error).type();
  if (type == fs::file_type::directory || type == fs::file_type::fifo ||
      type == fs::file_type::socket || type == fs::file_type::character ||
      type == fs::file_type::block)
    throw NotALedger();
  const std::uintmax_t size = fs::file_size(file, size_error);
  if (size_error || size == 0) return;
  std::error_code path_error;
  const bool is_ours = has_state_folder_parent(fs::absolute(file, path_error).lexically_normal());
  if (size < kMinDatabaseBytes && !is_ours) throw NotALedger();
  try {
    Database database(file, OpenMode::immutable, timeout);
    database.read_transaction([&] {
      check_is_ledger(database);
      schema_version(database);
    });
  } catch (const NotALedger&) {
    if (!is_ours) throw;
  } catch (const DatabaseError& error) {
    if (!is_ours && error.is_corrupt() && read_application_id(file) != kApplicationId)
      throw NotALedger();
  }
}

}  // namespace eckart::ledger
