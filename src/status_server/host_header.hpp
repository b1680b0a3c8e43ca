#pragma once

#include <string_view>

namespace eckart::status_server {

/// Whether the value of a Host header names the loopback interface: localhost, an IPv4 address
/// 127.a.b.c, or [::1], with or without a port. This detects DNS rebinding: a web page that
/// resolves its own name to 127.0.0.1 sends that name.
bool is_loopback_host(std::string_view host);

/// Whether the head of a request, with the empty line at its end, is well-formed, so that all
/// parsers read the same headers. Lines end with CR LF and contain no other control characters
/// except tabs. Each line after the first is a header name (a token of RFC 9110), a colon, and a
/// value. In a malformed head, is_loopback_host() might check another Host than the one that the
/// client sent.
bool is_well_formed_request_head(std::string_view head);

}  // namespace eckart::status_server
