#include "ledger/ledger_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "core/state_folder.hpp"
#include "ledger/database.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

/// Where all files are ours, whatever has become of them.
bool is_in_state_folder(const fs::path& file) {
  return file.parent_path().filename() == kStateFolder;
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

void check_ledger_file(const fs::path& file, std::chrono::milliseconds timeout) {
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
  const bool is_own = is_in_state_folder(file);
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

fs::path output_root(const fs::path& file) {
  std::error_code none;
  return is_in_state_folder(file)
             ? fs::absolute(file, none).lexically_normal().parent_path().parent_path()
             : fs::path("/");
}

}  // namespace eckart::ledger
