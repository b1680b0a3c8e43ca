#include "status_server/host_header.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::status_server {
namespace {

TEST(HostHeader, accepts_loopback_names_with_or_without_a_port) {
  for (const char* host :
       {"localhost", "LocalHost:9464", "localhost:1", "127.0.0.1", "127.0.0.1:65535", "127.0.1.1",
        "127.255.255.254:80", "[::1]", "[::1]:9464"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
}

TEST(HostHeader, rejects_an_empty_or_malformed_host) {
  for (const char* host : {"",
                           " ",
                           ":",
                           ":80",
                           "localhost:",
                           "localhost:0",
                           "localhost:65536",
                           "localhost:080",
                           "localhost:8a",
                           "localhost:-1",
                           "localhost:80:80",
                           "localhost.",
                           "localhost ",
                           " localhost",
                           "localhost,localhost",
                           "localhost/",
                           "a@localhost",
                           "localhost@evil.example",
                           "[::1",
                           "::1",
                           "[::1].evil.example",
                           "[::1]80",
                           "[::1]:",
                           "[::2]",
                           "[::ffff:127.0.0.1]"})
    EXPECT_FALSE(is_loopback_host(host)) << '\'' << host << '\'';
}

TEST(HostHeader, rejects_the_host_of_another_machine) {
  for (const char* host :
       {"example.org", "127.0.0.1.example.org", "127.0.0.1.example.org:80", "localhost.example.org",
        "127.example.org", "128.0.0.1", "0.0.0.0", "127.0.0", "127.0.0.1.1", "127.0.0.256",
        "127.0.0.01", "0127.0.0.1", "127..0.1", "127.0.0.", "127.1", "2130706433", "10.127.0.1"})
    EXPECT_FALSE(is_loopback_host(host)) << host;
}

TEST(RequestHead, is_well_formed_with_any_header_and_any_value) {
  for (const char* headers : {"", "Host: localhost\r\n", "Host:localhost\r\n", "Host: \r\n",
                              "X-1.a_b~: \t v: \xff \r\nHost: a\r\n"})
    EXPECT_TRUE(is_well_formed_request_head(std::string("GET / HTTP/1.1\r\n") + headers + "\r\n"))
        << headers;
  EXPECT_TRUE(is_well_formed_request_head(std::string("POST / HTTP/1.1\r\n\r\n\0\n", 21)))
      << "the body";
}

TEST(RequestHead, is_not_well_formed_when_ambiguous) {
  const std::string zero(1, '\0');
  for (const std::string& headers :
       {std::string("Host : localhost\r\n"), std::string("Host\t: localhost\r\n"),
        std::string(" Host: localhost\r\n"), std::string("X: 1\r\n\tHost: localhost\r\n"),
        std::string("Host\r\n"), std::string(": localhost\r\n"), std::string("X: 1\nHost: a\r\n"),
        std::string("X: 1\rHost: a\r\n"), "Host: localhost" + zero + "\r\n",
        "Host: localhost" + zero + ".example.org\r\n", "Ho" + zero + "st: localhost\r\n",
        std::string("Host: localhost\x7f\r\n")})
    EXPECT_FALSE(is_well_formed_request_head("GET / HTTP/1.1\r\n" + headers + "\r\n")) << headers;
  EXPECT_FALSE(is_well_formed_request_head("GET /" + zero + " HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(is_well_formed_request_head("\r\n"));
  EXPECT_FALSE(is_well_formed_request_head("GET / HTTP/1.1\r\nHost: localhost"));
}

}  // namespace
}  // namespace eckart::status_server
