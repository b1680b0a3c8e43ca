#include "app/retry_backoff.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>

#include "logging/log.hpp"
#include "text/printable.hpp"

namespace eckart::app {

void RetryBackoff::warn_once(const std::filesystem::path& input, const std::string& reason) {
  constexpr std::size_t kMaxWarnedInputs = 1000;
  {
    const std::lock_guard lock(mutex_);
    if (warned_.size() > kMaxWarnedInputs || !warned_.insert(input.native()).second) return;
    if (warned_.size() > kMaxWarnedInputs)
      return spdlog::warn("more than {} inputs were left in place; further ones are not logged",
                          kMaxWarnedInputs);
  }
  const logging::LogFields fields({{"ECKART_FILE", input.native()}});
  spdlog::warn("{}: left in place; will be retried at each scan: {}",
               text::printable(input.native()), text::printable_message(reason));
}

void RetryBackoff::delay_retry(const std::filesystem::path& input, const files::FileState& state,
                               Instant now) {
  constexpr std::chrono::milliseconds kFirstDelay{1000}, kMaxDelay{30000};
  constexpr std::size_t kMaxDelays = 100000;
  const std::lock_guard lock(mutex_);
  if (delays_.size() >= kMaxDelays) delays_.clear();
  Delay& known = delays_[input.native()];
  const bool is_new = known.wait.count() == 0 || known.state != state;
  const auto wait = is_new ? kFirstDelay : std::min(2 * known.wait, kMaxDelay);
  known = {state, wait, now + wait};
}

bool RetryBackoff::is_due(const std::filesystem::path& input, const files::FileState& state,
                          Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto known = delays_.find(input.native());
  return known == delays_.end() || known->second.state != state || now >= known->second.due;
}

void RetryBackoff::forget(const std::filesystem::path& input) {
  const std::lock_guard lock(mutex_);
  if (!warned_.empty()) warned_.erase(input.native());
  if (!delays_.empty()) delays_.erase(input.native());
}

}  // namespace eckart::app
