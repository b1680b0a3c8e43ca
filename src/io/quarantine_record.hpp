#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/outcome.hpp"

namespace eckart::io {

/// Why an input is in the quarantine; docs/reference/service.md has the keys of its JSON.
struct QuarantineRecord {
  std::filesystem::path input;  ///< absolute
  std::filesystem::path root;   ///< the watched folder: the input is below it
  Outcome outcome;              ///< a failure
  std::int64_t bytes = 0;       ///< of the input
  std::string sha256{};         ///< of the input, in hexadecimal, ...
  std::string sha256_error{};   ///< ... or why it is missing
  std::chrono::system_clock::time_point time;
};

/// One JSON object, with a newline.
std::string to_json(const QuarantineRecord& note, const std::string& version);

struct QuarantinedInput {
  std::filesystem::path input;
  std::filesystem::path root;  ///< empty in notes of earlier versions
};

/// The input that such a text is of; nothing where it is none.
std::optional<QuarantinedInput> parse_quarantined_input(const std::string& json);

}  // namespace eckart::io
