#pragma once

#include <filesystem>
#include <string>

#include "ledger/database.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {

/// The ledger in a message.
std::string ledger_label(const std::filesystem::path& file);

/// The consequence of a lost ledger.
inline constexpr const char* kLostRecordsText =
    "Without its records, existing outputs are compared with new results: an equal output is kept, "
    "a different one is reported as a collision";

/// Throws EnvironmentError or FatalError.
[[noreturn]] void throw_ledger_error(const std::filesystem::path& file, const DatabaseError& error);
/// Throws FatalError. For a ledger that is opened for reading.
[[noreturn]] void throw_damaged(const std::filesystem::path& file, const std::string& reason);
/// Throws FatalError: a mistyped ledger name must not cost a file.
[[noreturn]] void throw_not_a_ledger(const std::filesystem::path& file);
/// Throws FatalError.
[[noreturn]] void throw_newer_schema(const std::filesystem::path& file, const NewerSchema& schema);

/// Returns what `body` returns. Throws the errors of the ledger `file` as the functions above.
template <class Body>
auto translate_errors(const std::filesystem::path& file, const Body& body) {
  try {
    return body();
  } catch (const NotALedger&) {
    throw_not_a_ledger(file);
  } catch (const NewerSchema& schema) {
    throw_newer_schema(file, schema);
  } catch (const DatabaseError& error) {
    throw_ledger_error(file, error);
  }
}

}  // namespace eckart::ledger
