#pragma once

#include <string_view>

namespace eckart::status_server {

/// The status page: one HTML file in UTF-8. It loads only `status.json?since=UNIX_SECONDS` beside
/// it (docs/reference/status-page.md). Built from src/status_server/page. The text is valid for the
/// lifetime of the program.
std::string_view status_page();

}  // namespace eckart::status_server
