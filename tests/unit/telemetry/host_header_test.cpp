#include "telemetry/host_header.hpp"

#include <gtest/gtest.h>

namespace eckart::telemetry {
namespace {

TEST(HostHeader, names_the_loopback_interface_with_or_without_a_port) {
  for (const char* host :
       {"localhost", "LocalHost:9464", "localhost:1", "127.0.0.1", "127.0.0.1:65535", "127.0.1.1",
        "127.255.255.254:80", "[::1]", "[::1]:9464"})
    EXPECT_TRUE(names_loopback(host)) << host;
}

TEST(HostHeader, that_is_empty_or_odd_names_nothing) {
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
    EXPECT_FALSE(names_loopback(host)) << '\'' << host << '\'';
}

TEST(HostHeader, of_another_machine_is_not_this_one_s) {
  for (const char* host :
       {"example.org", "127.0.0.1.example.org", "127.0.0.1.example.org:80", "localhost.example.org",
        "127.example.org", "128.0.0.1", "0.0.0.0", "127.0.0", "127.0.0.1.1", "127.0.0.256",
        "127.0.0.01", "0127.0.0.1", "127..0.1", "127.0.0.", "127.1", "2130706433", "10.127.0.1"})
    EXPECT_FALSE(names_loopback(host)) << host;
}

}  // namespace
}  // namespace eckart::telemetry
