#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/outcome.hpp"

namespace eckart::io {

/// Why an input is in the quarantine. docs/reference/service.md lists the JSON keys.
struct QuarantineRecord {
  std::filesystem::path input;        ///< absolute
  std::filesystem::path root;         ///< the watched folder that contains the input
  std::filesystem::path real_root{};  ///< the same without links, as they were when it was watched
  Outcome outcome;                    ///< a failure
  std::int64_t bytes = 0;             ///< size of the input
  std::string sha256{};               ///< of the input, in hexadecimal; empty if unknown
  std::string sha256_error{};         ///< why `sha256` is empty
  std::chrono::system_clock::time_point time;
};

/// Returns one JSON object and a newline.
std::string to_json(const QuarantineRecord& record, const std::string& version);

struct QuarantinedInput {
  std::filesystem::path input;
  std::filesystem::path root;       ///< empty in records of earlier versions
  std::filesystem::path real_root;  ///< likewise
};

/// Returns the input that a record describes, or nullopt if the text is not a record.
std::optional<QuarantinedInput> parse_quarantined_input(const std::string& json);

}  // namespace eckart::io
