#include "app/pulse.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "compute/out_of_memory.hpp"
#include "core/printable.hpp"

namespace eckart::app {

bool Pulse::beats() {
  const std::int64_t done = service_.progress().done;
  if (std::exchange(last_done_, done) != done) return true;
  Backend* const backend = service_.backend();
  if (!backend) return false;
  try {
    if (!probe_) probe_.emplace(*backend);
    probe_->run();
    return true;
  } catch (const OutOfMemory&) {  // other work has it, and moves
    return false;
  } catch (const std::exception& error) {
    spdlog::error("{}", printable(error.what()));
    service_.end_by(std::current_exception());
    return false;
  }
}

}  // namespace eckart::app
