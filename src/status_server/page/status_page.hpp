#pragma once

#include <string_view>

namespace eckart::status_server {

/// The status page: one HTML file in UTF-8 that needs nothing else but
/// `status.json?since=UNIX_SECONDS` beside it (docs/reference/status-page.md). Made from
/// src/status_server/page when eckart is built; lives as long as the program.
std::string_view status_page();

}  // namespace eckart::status_server
