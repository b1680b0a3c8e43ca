#include "broker/broker_address.hpp"

#include <amqp.h>

#include <algorithm>
#include <string_view>

#include "core/error.hpp"
#include "text/percent_encoding.hpp"
#include "text/printable.hpp"

namespace eckart::broker {
namespace {

constexpr int kMaxPort = 65535;

/// Where the hosts are in a URL: from `begin` to `end`.
struct HostList {
  std::size_t begin = 0, end = 0;
  bool follows_user = false;
};

HostList find_hosts(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == url.npos) return {.begin = url.size(), .end = url.size()};
  const std::size_t authority = scheme + 3;
  const std::size_t end = std::min(url.find('/', authority), url.size());
  const std::size_t user = url.find('@', authority);
  const bool follows_user = user < end;
  return {.begin = follows_user ? user + 1 : authority, .end = end, .follows_user = follows_user};
}

[[noreturn]] void fail_to_parse() {
  throw FatalError(
      ExitCode::usage,
      "not an AMQP URL: give amqp://HOST:PORT/VHOST, or amqps:// for TLS; several hosts "
      "are separated by commas; special characters are percent-encoded");
}

/// Parses a URL with one host.
BrokerUrl parse_with_one_host(const std::string& url, bool has_user) {
  std::string buffer = url;  // that is parsed in place
  amqp_connection_info info{};
  const bool has_null =
      url.find('\0') != url.npos || url.find("%00") != url.npos;  // would end a C string
  if (has_null || amqp_parse_url(buffer.data(), &info) != AMQP_STATUS_OK || info.port < 1 ||
      info.port > kMaxPort)
    fail_to_parse();
  BrokerUrl result{.address = {.uses_tls = info.ssl != 0,
                               .hosts = {{info.host, info.port}},
                               .vhost = info.vhost[0] == '\0' ? "/" : info.vhost},
                   .credentials = {}};
  if (has_user) result.credentials = {info.user, info.password};
  return result;
}

std::string to_string(const BrokerHost& host) {
  const bool is_ipv6 = host.name.find(':') != host.name.npos;
  const std::string name = text::printable(host.name);
  return (is_ipv6 ? '[' + name + ']' : name) + ':' + std::to_string(host.port);
}

}  // namespace

BrokerUrl parse_broker_url(const std::string& url) {
  const HostList list = find_hosts(url);
  const std::string hosts = ',' + url.substr(list.begin, list.end - list.begin) + ',';
  const bool has_several = hosts.find(',', 1) != hosts.size() - 1;
  if (hosts.find(' ') != hosts.npos || (has_several && hosts.find(",,") != hosts.npos))
    fail_to_parse();
  const auto with_host = [&](std::size_t begin, std::size_t end) {
    return parse_with_one_host(
        url.substr(0, list.begin) + url.substr(begin, end - begin) + url.substr(list.end),
        list.follows_user);
  };
  std::size_t begin = list.begin;
  std::size_t end = std::min(url.find(',', begin), list.end);
  BrokerUrl result = with_host(begin, end);
  while (end < list.end) {
    begin = end + 1;
    end = std::min(url.find(',', begin), list.end);
    result.address.hosts.push_back(with_host(begin, end).address.hosts.front());
  }
  return result;
}

std::string to_string(const BrokerAddress& address) {
  std::string url = address.uses_tls ? "amqps://" : "amqp://";
  for (const BrokerHost& host : address.hosts)
    url += (&host == &address.hosts.front() ? "" : ",") + to_string(host);
  url += '/';
  if (address.vhost == "/") return url;
  for (const char c : address.vhost)  // a slash in its name is encoded
    url += c == '/' ? "%2F" : text::percent_encode_path(std::string_view(&c, 1));
  return url;
}

}  // namespace eckart::broker
