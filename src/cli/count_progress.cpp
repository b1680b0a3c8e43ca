#include "cli/count_progress.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include "logging/progress.hpp"
#include "text/format_count.hpp"

namespace eckart::cli {

CountProgress::CountProgress(std::string noun, std::string verb)
    : noun_(std::move(noun)), verb_(std::move(verb)), is_shown_(logging::stderr_is_terminal()) {}

CountProgress::~CountProgress() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
}

void CountProgress::show(std::int64_t count) {
  constexpr std::chrono::milliseconds kInterval{100};
  if (!is_shown_) return;
  const Instant now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  std::fprintf(stderr, "\r%s %s", text::format_count(count, noun_).c_str(), verb_.c_str());
}

}  // namespace eckart::cli
