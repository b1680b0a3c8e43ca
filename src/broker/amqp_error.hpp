#pragma once

#include <string>

#include "core/error.hpp"

namespace eckart::broker {

/// The broker does not answer, closed a connection or channel, or refused a request.
class AmqpError : public FatalError {
 public:
  /// `reply_code`: of AMQP, such as 404; 0 if the broker gave none.
  AmqpError(ExitCode code, const std::string& message, int reply_code = 0)
      : FatalError(code, message), reply_code_(reply_code) {}
  int reply_code() const { return reply_code_; }
  /// Whether a later attempt may succeed although nobody changes the configuration.
  bool may_pass() const { return code() == ExitCode::unavailable; }

 private:
  int reply_code_;
};

// Codes that a broker replies with.
inline constexpr int kAccessRefused = 403, kNotFound = 404, kPreconditionFailed = 406,
                     kNotAllowed = 530;

/// The error for a status of librabbitmq, AMQP_STATUS_*. `what` was attempted.
AmqpError library_error(int status, const std::string& what);
/// The error for what the broker replied when it closed a connection or channel.
AmqpError reply_error(int reply_code, const std::string& reply, const std::string& what);

}  // namespace eckart::broker
