#include "app/inputs_that_stay.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>

#include "core/printable.hpp"
#include "telemetry/log.hpp"

namespace eckart::app {

void InputsThatStay::tell(const std::filesystem::path& input, const std::string& why) {
  constexpr std::size_t kMostKnown = 1000;
  {
    const std::lock_guard lock(mutex_);
    if (told_.size() > kMostKnown || !told_.insert(input.native()).second) return;
    if (told_.size() > kMostKnown)
      return spdlog::warn("more than {} inputs stay: no more of them are named", kMostKnown);
  }
  const telemetry::LogFields fields({{"ECKART_FILE", input.native()}});
  spdlog::warn("{}: it stays, and is tried again at each scan: {}", printable(input.native()),
               printable_message(why));
}

void InputsThatStay::back_off(const std::filesystem::path& input, const FileState& state,
                              Clock::time_point now) {
  constexpr std::chrono::milliseconds kFirst{1000}, kLongest{30000};
  constexpr std::size_t kMost = 100000;
  const std::lock_guard lock(mutex_);
  if (back_offs_.size() >= kMost) back_offs_.clear();
  BackOff& known = back_offs_[input.native()];
  const bool is_new = known.wait.count() == 0 || known.state != state;
  const auto wait = is_new ? kFirst : std::min(2 * known.wait, kLongest);
  known = {state, wait, now + wait};
}

bool InputsThatStay::is_due(const std::filesystem::path& input, const FileState& state,
                            Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto known = back_offs_.find(input.native());
  return known == back_offs_.end() || known->second.state != state || now >= known->second.due;
}

void InputsThatStay::forget(const std::filesystem::path& input) {
  const std::lock_guard lock(mutex_);
  if (!told_.empty()) told_.erase(input.native());
  if (!back_offs_.empty()) back_offs_.erase(input.native());
}

}  // namespace eckart::app
