#include "app/backend_health.hpp"

#include <string>

#include "app/gpu_health_probe.hpp"
#include "app/stall_detector.hpp"

namespace eckart::app {
namespace {

/// A GPU probe ends within this time even if it takes its whole timeout.
constexpr std::chrono::seconds kMaxHeartbeatAge = 2 * kGpuProbeInterval + kGpuProbeTimeout;

}  // namespace

void add_backend_health(status_server::ServiceState& state,
                        const std::optional<pipeline::Activity::Stall>& stall,
                        std::optional<Instant> last_heartbeat) {
  if (stall) {
    state.unhealthy_reasons.push_back(to_string(*stall));
    state.not_ready_reasons.push_back(to_string(*stall));
  }
  if (!last_heartbeat) return;
  const std::chrono::duration<double> silence = Clock::now() - *last_heartbeat;
  state.are_gpus_healthy = silence <= kMaxHeartbeatAge;
  if (!state.are_gpus_healthy)
    state.unhealthy_reasons.push_back("the GPUs have not responded for " +
                                      std::to_string(int(silence.count())) + " s");
}

}  // namespace eckart::app
