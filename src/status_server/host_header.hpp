#pragma once

#include <string_view>

namespace eckart::status_server {

/// Whether the value of a Host header names this machine's loopback interface: localhost, an IPv4
/// address 127.a.b.c, or [::1], with or without a port. A web page of another site that leads a
/// name of its own to 127.0.0.1 (DNS rebinding) sends that name, and is recognized by it.
bool is_loopback_host(std::string_view host);

/// Whether the head of a request, up to its empty line, is one that everybody reads alike: lines
/// end with CR LF and have no other control character but tabs, and each after the first has a name
/// of a header (RFC 9110's token), a colon, and whatever follows. What is wrong there may be read
/// over, so that is_loopback_host() is asked of less, or of more, than the client has sent.
bool is_well_formed_request_head(std::string_view head);

}  // namespace eckart::status_server
