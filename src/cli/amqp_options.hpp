#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "broker/broker_connection.hpp"

namespace eckart::cli {

/// Flags that name a queue of a broker.
struct AmqpArgs {
  std::string url;
  broker::QueueOptions queue;
  std::filesystem::path credentials;
  broker::TlsFiles tls;
  int heartbeat_s = 30;
};

/// Adds the flags in a group of the help. `makes_queue`: also the flags for how it is made.
void add_amqp_options(CLI::App& command, AmqpArgs& args, bool makes_queue);

/// Returns how to reach the broker. The user and the password come from the file, the environment
/// (ECKART_AMQP_USER and ECKART_AMQP_PASSWORD) or the URL, in this order. `purpose` is shown in the
/// list of connections of the broker. Throws as broker::parse_broker_url(),
/// broker::choose_credentials() and broker::check_queue_name(), and FatalError(usage) if flags
/// contradict each other.
broker::ConnectionOptions connection_options(const AmqpArgs& args, const std::string& purpose);

}  // namespace eckart::cli
