#pragma once

#include <string>
#include <vector>

#include "broker/broker_connection.hpp"

namespace eckart::broker {

/// A message that no worker could process.
struct DeadLetter {
  std::string reason;
  std::vector<std::string> images;  ///< their paths; empty if the message cannot be parsed
};

/// Returns at most `max` dead letters of a queue, the oldest first. They stay there.
std::vector<DeadLetter> read_dead_letters(const ConnectionOptions& options,
                                          const std::string& queue, int max);

/// The dead letter of a message from the dead-letter queue.
DeadLetter dead_letter_of(const Delivery& delivery);

}  // namespace eckart::broker
