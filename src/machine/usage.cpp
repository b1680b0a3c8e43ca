#include "machine/usage.hpp"

namespace eckart::machine {

std::string_view to_string(ThrottleReason throttle) {
  switch (throttle) {
    case ThrottleReason::power:
      return "power";
    case ThrottleReason::thermal:
      return "thermal";
    case ThrottleReason::hardware:
      return "hardware";
    case ThrottleReason::sync:
      return "sync";
    case ThrottleReason::other:
      return "other";
  }
  return "?";
}

}  // namespace eckart::machine
