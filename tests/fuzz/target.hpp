#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// Called by libFuzzer and replay.cpp; each target defines it. Returns 0.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace eckart::fuzz {

/// Ends the process if `holds` is false: a target reports a finding in this way.
void require(bool holds, std::string_view what);

/// Adds an outcome to the coverage, so that inputs with different outcomes are kept. Parsing and
/// decoding libraries are not instrumented; their messages show how far an input was processed.
/// Digits are ignored.
void note(std::string_view outcome);

/// Returns whether the text is a non-empty message on one line.
bool is_one_line_message(std::string_view text);

}  // namespace eckart::fuzz
