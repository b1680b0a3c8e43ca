#include "tests/fuzz/target.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace eckart::fuzz {
namespace {

// libFuzzer finds the counters by the name of the section, and clears them before each input.
__attribute__((section("__libfuzzer_extra_counters"))) std::uint8_t outcomes[1024];

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %.*s\n", int(what.size()), what.data());
  std::abort();
}

void note(std::string_view outcome) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : outcome) {
    if (c < '0' || c > '9') hash = (hash ^ std::uint8_t(c)) * 16777619U;
  }
  outcomes[hash % std::size(outcomes)] = 1;
}

bool is_one_line_message(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), is_control);
}

}  // namespace eckart::fuzz
