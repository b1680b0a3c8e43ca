#pragma once

#include <string_view>

namespace eckart::telemetry {

/// Whether the value of a Host header names this machine's loopback interface: localhost, an IPv4
/// address 127.a.b.c, or [::1], with or without a port. A web page of another site that leads a
/// name of its own to 127.0.0.1 (DNS rebinding) sends that name, and is recognized by it.
bool names_loopback(std::string_view host);

}  // namespace eckart::telemetry
