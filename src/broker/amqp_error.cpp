#include "broker/amqp_error.hpp"

#include <amqp.h>

#include "text/printable.hpp"

namespace eckart::broker {

AmqpError library_error(int status, const std::string& what) {
  const bool is_refused_certificate = status == AMQP_STATUS_SSL_PEER_VERIFY_FAILED ||
                                      status == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED;
  return {is_refused_certificate ? ExitCode::configuration : ExitCode::unavailable,
          what + ": " + amqp_error_string2(status)};
}

AmqpError reply_error(int reply_code, const std::string& reply, const std::string& what) {
  ExitCode code = ExitCode::unavailable;
  if (reply_code == kAccessRefused) code = ExitCode::no_permission;
  // No such virtual host; or a limit of connections, which passes.
  const bool is_limit = reply.find("limit") != std::string::npos;
  if (reply_code == kNotAllowed && !is_limit) code = ExitCode::configuration;
  return {code, what + ": " + text::printable_message(reply), reply_code};
}

}  // namespace eckart::broker
