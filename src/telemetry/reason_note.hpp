#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/outcome.hpp"

namespace eckart::telemetry {

/// Why an input is in the quarantine; docs/output.md has the keys of its JSON.
struct ReasonNote {
  std::filesystem::path input;  ///< absolute
  Outcome outcome;              ///< a failure
  std::int64_t bytes = 0;       ///< of the input
  std::string sha256;           ///< of the input, in hexadecimal; empty where it cannot be read
  std::chrono::system_clock::time_point time;
};

/// One JSON object, with a newline.
std::string to_json(const ReasonNote& note, const std::string& version);

/// The input that such a text is of; nothing where it is none.
std::optional<std::filesystem::path> input_of(const std::string& json);

}  // namespace eckart::telemetry
