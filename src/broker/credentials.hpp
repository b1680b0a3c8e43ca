#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "broker/broker_address.hpp"

namespace eckart::broker {

/// Where the user and the password may come from.
struct CredentialSources {
  Credentials url;                                ///< of BrokerUrl
  std::optional<std::string> user{}, password{};  ///< of the environment
  std::filesystem::path file{};                   ///< see read_credentials(); may be empty
};

/// Returns the credentials of the file; without a file, those of the environment; without these,
/// those of the URL; otherwise those of the default user of RabbitMQ, guest, whom a broker accepts
/// from its own host only. Throws as read_credentials(), and FatalError(configuration) if the
/// environment has only one of both.
Credentials choose_credentials(const CredentialSources& sources);

/// Reads a file with two lines: user and password. Throws FatalError: no_input if it cannot be
/// read, no_permission if its mode lets others read or write it, configuration if it has other
/// contents. No message has a part of them.
Credentials read_credentials(const std::filesystem::path& file);

}  // namespace eckart::broker
