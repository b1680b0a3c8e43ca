#pragma once

#include <stdexcept>
#include <string>
#include <variant>

#include "app/ledger_import.hpp"

namespace eckart::cli {

/// A line of an exported ledger, without its end, as docs/reference/ledger.md describes it.
std::string header_line();
std::string settings_line(const std::string& text);
std::string output_measurement(const ledger::OutputEntry& entry);
std::string failure_line(const ledger::FailureEntry& failure);

/// What is wrong with a line.
class LineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws LineError unless the line begins an export of a version that is known.
void check_header(const std::string& line);

struct SettingsText {
  std::string text;
};
using LedgerLine = std::variant<SettingsText, ledger::OutputEntry, ledger::FailureEntry>;
/// A line after the first. Throws LineError.
LedgerLine parse_line(const std::string& line);

}  // namespace eckart::cli
