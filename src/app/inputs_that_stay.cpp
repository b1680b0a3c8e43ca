#include "app/inputs_that_stay.hpp"

#include <spdlog/spdlog.h>

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
               printable(why));
}

void InputsThatStay::forget(const std::filesystem::path& input) {
  const std::lock_guard lock(mutex_);
  if (!told_.empty()) told_.erase(input.native());
}

}  // namespace eckart::app
