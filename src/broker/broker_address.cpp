#include "broker/broker_address.hpp"

#include <amqp.h>

#include <string_view>

#include "core/error.hpp"
#include "text/percent_encoding.hpp"
#include "text/printable.hpp"

namespace eckart::broker {
namespace {

constexpr int kMaxPort = 65535;

/// Whether there is a user before the host.
bool has_user(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  return authority.find('@') != authority.npos;
}

}  // namespace

BrokerUrl parse_broker_url(const std::string& url) {
  std::string buffer = url;  // that is parsed in place
  amqp_connection_info info{};
  const bool has_null =
      url.find('\0') != url.npos || url.find("%00") != url.npos;  // would end a C string
  if (has_null || amqp_parse_url(buffer.data(), &info) != AMQP_STATUS_OK || info.port < 1 ||
      info.port > kMaxPort)
    throw FatalError(ExitCode::usage,
                     "not an AMQP URL: give amqp://HOST:PORT/VHOST, or amqps:// for TLS; special "
                     "characters are percent-encoded");
  BrokerUrl result{.address = {.uses_tls = info.ssl != 0,
                               .host = info.host,
                               .port = info.port,
                               .vhost = info.vhost[0] == '\0' ? "/" : info.vhost},
                   .credentials = {}};
  if (has_user(url)) result.credentials = {info.user, info.password};
  return result;
}

std::string to_string(const BrokerAddress& address) {
  const bool is_ipv6 = address.host.find(':') != address.host.npos;
  const std::string host = text::printable(address.host);
  std::string url = address.uses_tls ? "amqps://" : "amqp://";
  url += is_ipv6 ? '[' + host + ']' : host;
  url += ':' + std::to_string(address.port) + '/';
  if (address.vhost == "/") return url;
  for (const char c : address.vhost)  // a slash in its name is encoded
    url += c == '/' ? "%2F" : text::percent_encode_path(std::string_view(&c, 1));
  return url;
}

}  // namespace eckart::broker
