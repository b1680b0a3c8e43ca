#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// What libFuzzer calls, and replay.cpp; a target's file defines it. Always 0.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace eckart::fuzz {

/// Ends the process, which is how a target says that it found something.
void require(bool holds, std::string_view what);

/// Makes an outcome count as coverage: inputs that differ in it are kept. The libraries that parse
/// and decode are not instrumented, so their messages are what shows how far an input came. Digits
/// in it count for nothing.
void note(std::string_view outcome);

/// Whether there is a message, on one line.
bool is_one_line_message(std::string_view text);

}  // namespace eckart::fuzz
