#pragma once

#include <string>
#include <vector>

namespace eckart::broker {

/// A server of a broker.
struct BrokerHost {
  std::string name = "localhost";
  int port = 5672;
  friend bool operator==(const BrokerHost&, const BrokerHost&) = default;
};

/// The address of a virtual host of a broker, without what identifies the user.
struct BrokerAddress {
  bool uses_tls = false;
  std::vector<BrokerHost> hosts = {BrokerHost()};  ///< of a cluster: several; at least one
  std::string vhost = "/";
  friend bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

/// A user of a broker. Never print it.
struct Credentials {
  std::string user, password;
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

/// What an AMQP URL says.
struct BrokerUrl {
  BrokerAddress address;
  Credentials credentials;  ///< without a user if the URL has none
};

/// Parses amqp://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/VHOST], or amqps:// for TLS. The
/// default port is 5672, with TLS 5671; the default virtual host is "/". Special characters are
/// percent-encoded.
/// Throws FatalError(usage), whose message has no part of the URL, because it may have a password.
BrokerUrl parse_broker_url(const std::string& url);

/// Returns the URL of the address, for messages. It has neither user nor password.
std::string to_string(const BrokerAddress& address);

}  // namespace eckart::broker
