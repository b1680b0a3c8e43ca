#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/broker_connection.hpp"

namespace eckart::broker {

/// What a worker tells of itself.
struct WorkerReport {
  std::string name;
  std::int64_t in_flight = 0;  ///< messages that it has taken and not acknowledged
};

std::string to_body(const WorkerReport& report);
/// nullopt if another program wrote it.
std::optional<WorkerReport> parse_worker_report(const std::string& body);

/// The fanout exchange through which the workers of a queue are asked for their reports.
std::string workers_exchange(const std::string& queue);

/// Asks the workers of a queue for their reports, sorted by name. Waits until none has answered for
/// a second, or until the time has passed: a worker that is stopped does not answer. Throws
/// AmqpError and FatalError.
std::vector<WorkerReport> ask_workers(const ConnectionOptions& options, const std::string& queue,
                                      std::chrono::milliseconds time);

}  // namespace eckart::broker
