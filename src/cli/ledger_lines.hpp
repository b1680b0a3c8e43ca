#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "app/ledger_import.hpp"

namespace eckart::cli {

/// Each function formats one line of a ledger export, without a newline; see
/// docs/reference/ledger.md.
std::string header_line();
std::string settings_line(const std::string& text);
std::string output_line(const ledger::OutputEntry& entry);
std::string failure_line(const ledger::FailureEntry& failure);

/// An error in a line of a ledger export.
class LineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws LineError if the line is not the header of an export with a supported version.
void check_header(const std::string& line);

struct SettingsText {
  std::string text;
};
using LedgerLine = std::variant<SettingsText, ledger::OutputEntry, ledger::FailureEntry>;
/// Parses a line after the header. Throws LineError.
LedgerLine parse_line(const std::string& line);

}  // namespace eckart::cli
