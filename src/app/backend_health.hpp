#pragma once

#include <chrono>
#include <optional>

#include "core/instant.hpp"
#include "pipeline/activity.hpp"
#include "status_server/run_status.hpp"

namespace eckart::app {

/// How long a backend may take to start: a driver may have to initialize GPUs.
inline constexpr std::chrono::minutes kMaxBackendStart{5};

/// Adds to the state of a service that it has stalled, or that its GPUs do not respond.
/// `last_heartbeat`: when all of them did; nullopt before there is a backend.
void add_backend_health(status_server::ServiceState& state,
                        const std::optional<pipeline::Activity::Stall>& stall,
                        std::optional<Instant> last_heartbeat);

}  // namespace eckart::app
