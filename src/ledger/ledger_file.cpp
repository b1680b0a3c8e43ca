#include "ledger/ledger_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <vector>

#include "files/state_folder.hpp"
#include "ledger/database.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

/// All files there are ours, damaged or not.
bool is_in_state_folder(const fs::path& absolute) {
  return absolute.parent_path().filename() == kStateFolder;
}

/// The path, and where its links lead, one after the other; the last is there, or to be made.
std::vector<fs::path> link_chain(const fs::path& path) {
  constexpr std::size_t kMaxLinks = 40;  // as the system has it
  std::vector<fs::path> chain{path};
  std::error_code none;
  while (chain.size() <= kMaxLinks && fs::is_symlink(chain.back(), none))
    chain.push_back(chain.back().parent_path() / fs::read_symlink(chain.back(), none));
  return chain;
}

/// A damaged ledger is renamed, and not its link.
fs::path link_target(const fs::path& path) {
  std::error_code none;
  const fs::path last = link_chain(path).back();
  if (last == path) return path;
  const fs::path canonical = fs::weakly_canonical(last, none);
  return none ? last : canonical;
}

/// What the header of the file says, of whatever SQLite thinks of the rest; 0 where nothing does.
std::uint32_t read_application_id(const fs::path& file) {
  constexpr std::size_t kHeaderBytes = 100, kApplicationIdOffset = 68;
  std::array<unsigned char, kHeaderBytes> header{};
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(reinterpret_cast<char*>(header.data()), header.size())) return 0;
  std::uint32_t application_id = 0;
  for (std::size_t i = 0; i < 4; ++i)
    application_id = application_id << 8 | header[kApplicationIdOffset + i];
  return application_id;
}

}  // namespace

LedgerLocation::LedgerLocation(const fs::path& path) : file(link_target(path)) {
  std::vector<fs::path> names = link_chain(path);
  names.push_back(file);
  for (const fs::path& one : names) {
    std::error_code none;
    const fs::path absolute = fs::absolute(one, none).lexically_normal();
    if (!is_in_state_folder(absolute)) continue;
    is_own = true;
    output_root = absolute.parent_path().parent_path();
    return;
  }
}

void check_ledger_file(const LedgerLocation& location, std::chrono::milliseconds timeout) {
  const auto& [file, is_own, output_root] = location;
  constexpr std::uintmax_t kMinDatabaseBytes =
      512;  // a page; SQLite takes less for an empty database
  std::error_code none;
  const fs::file_type type = fs::status(file, none).type();
  if (type == fs::file_type::directory || type == fs::file_type::fifo ||
      type == fs::file_type::socket || type == fs::file_type::character ||
      type == fs::file_type::block)
    throw NotALedger();
  const std::uintmax_t size = fs::file_size(file, none);
  if (none || size == 0) return;
  if (size < kMinDatabaseBytes && !is_own) throw NotALedger();
  try {
    Database database(file, OpenMode::immutable, timeout);
    database.read([&] {
      check_is_ledger(database);
      schema_version(database);
    });
  } catch (const NotALedger&) {
    if (!is_own) throw;
  } catch (const DatabaseError& error) {
    if (!is_own && error.is_corrupt() && read_application_id(file) != kApplicationId)
      throw NotALedger();
  }
}

}  // namespace eckart::ledger
