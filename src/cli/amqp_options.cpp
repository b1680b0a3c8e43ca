#include "cli/amqp_options.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "broker/credentials.hpp"
#include "cli/arguments.hpp"
#include "machine/machine_info.hpp"

namespace eckart::cli {
namespace {

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

void check_tls(const broker::TlsFiles& tls, bool uses_tls) {
  if (tls.certificate.empty() != tls.key.empty())
    throw FatalError(ExitCode::usage, "give both --amqp-cert and --amqp-key, or neither");
  if (!uses_tls && !(tls.ca.empty() && tls.certificate.empty()))
    throw FatalError(ExitCode::usage, "--amqp-ca and --amqp-cert need a URL with amqps://");
}

}  // namespace

void add_amqp_options(CLI::App& command, AmqpArgs& args, bool makes_queue) {
  const char* const group = "RabbitMQ";
  command
      .add_option("--amqp", args.url,
                  "Broker: amqp://HOST[:PORT][,HOST[:PORT]...][/VHOST], or amqps:// for TLS")
      ->type_name("URL")
      ->group(group);
  command.add_option("--queue", args.queue.name, "Queue of the broker")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  if (makes_queue)
    command
        .add_option("--delivery-limit", args.queue.delivery_limit,
                    "How often a message is delivered again before it is dead-lettered")
        ->type_name("N")
        ->check(number_between(0, 1000000))
        ->capture_default_str()
        ->group(group);
  if (makes_queue)
    command
        .add_option("--heartbeat", args.heartbeat_s,
                    "Close a connection that was silent for about twice this time")
        ->type_name("SECONDS")
        ->check(number_between(1, 3600))
        ->capture_default_str()
        ->group(group);
  command
      .add_option("--amqp-credentials", args.credentials,
                  "File with two lines, user and password, that no other user may read; default: "
                  "ECKART_AMQP_USER and ECKART_AMQP_PASSWORD of the environment, or the URL")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--amqp-ca", args.tls.ca,
                  "Certificates of trusted authorities for TLS; default: those of the system")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--amqp-cert", args.tls.certificate, "Certificate of this client for TLS")
      ->type_name("FILE")
      ->group(group);
  command.add_option("--amqp-key", args.tls.key, "Private key of --amqp-cert")
      ->type_name("FILE")
      ->group(group);
}

broker::ConnectionOptions connection_options(const AmqpArgs& args, const std::string& purpose) {
  broker::check_queue_name(args.queue.name);
  const broker::BrokerUrl url = broker::parse_broker_url(args.url);
  check_tls(args.tls, url.address.uses_tls);
  const broker::Credentials credentials =
      broker::choose_credentials({.url = url.credentials,
                                  .user = environment_variable("ECKART_AMQP_USER"),
                                  .password = environment_variable("ECKART_AMQP_PASSWORD"),
                                  .file = args.credentials});
  return {.address = url.address,
          .credentials = credentials,
          .tls = args.tls,
          .heartbeat = std::chrono::seconds(args.heartbeat_s),
          .name = "eckart " + purpose + " " + machine::machine_info().host + ":" +
                  std::to_string(::getpid())};
}

}  // namespace eckart::cli
