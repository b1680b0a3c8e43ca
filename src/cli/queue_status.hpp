#pragma once

#include "cli/amqp_options.hpp"

namespace eckart::cli {

/// Prints what is in a queue, at its workers, and in its dead-letter queue, as text or as one JSON
/// object, with at most `max_dead_letters` of the dead letters. Throws FatalError: no_input if
/// there is no such queue, and as broker::BrokerConnection.
void print_queue_status(const AmqpArgs& args, int max_dead_letters, bool json);

}  // namespace eckart::cli
