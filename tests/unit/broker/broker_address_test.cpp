#include "broker/broker_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"

namespace eckart::broker {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BrokerAddress address_of(const std::string& url) { return parse_broker_url(url).address; }

TEST(BrokerUrl, has_default_ports_and_a_default_virtual_host) {
  EXPECT_EQ(address_of("amqp://broker"), (BrokerAddress{false, {{"broker", 5672}}, "/"}));
  EXPECT_EQ(address_of("amqps://broker"), (BrokerAddress{true, {{"broker", 5671}}, "/"}));
  EXPECT_EQ(address_of("amqp://broker/"), (BrokerAddress{false, {{"broker", 5672}}, "/"}));
  EXPECT_EQ(address_of("amqp://"), (BrokerAddress{false, {{"localhost", 5672}}, "/"}));
}

TEST(BrokerUrl, has_a_host_port_and_virtual_host) {
  EXPECT_EQ(address_of("amqp://b.example:7000/scans"),
            (BrokerAddress{false, {{"b.example", 7000}}, "scans"}));
  EXPECT_EQ(address_of("amqp://[::1]:7000/%2f"), (BrokerAddress{false, {{"::1", 7000}}, "/"}));
  EXPECT_EQ(address_of("amqp://u:p@b/a%2Fb").vhost, "a/b");
}

TEST(BrokerUrl, has_the_hosts_of_a_cluster) {
  EXPECT_EQ(address_of("amqp://u:p@a,b:7000,[::1]:7001/scans"),
            (BrokerAddress{false, {{"a", 5672}, {"b", 7000}, {"::1", 7001}}, "scans"}));
  EXPECT_EQ(address_of("amqps://a,b").hosts, (std::vector<BrokerHost>{{"a", 5671}, {"b", 5671}}));
  EXPECT_EQ(parse_broker_url("amqp://a%2Cb:p%40q@c,d").credentials, (Credentials{"a,b", "p@q"}));
}

TEST(BrokerUrl, has_decoded_credentials) {
  EXPECT_EQ(parse_broker_url("amqp://a%40b:p%3Aq@host").credentials, (Credentials{"a@b", "p:q"}));
  EXPECT_EQ(parse_broker_url("amqp://host").credentials, Credentials{});
}

TEST(BrokerUrl, is_refused_without_its_text) {
  for (const char* url :
       {"", "broker", "http://u:secret@broker", "amqp://u:secret@broker:0",
        "amqp://u:secret@broker:99999", "amqp://u:secret@broker:x", "amqp://u:secret@broker/a/b",
        "amqp://u:secret@broker/%00", "amqp://u:secret@broker/%zz", "amqp://u:secret@broker/?a=b",
        "amqp://u:secret@a,b:x", "amqp://u:secret@a,b:0,c", "amqp://u:secret@a,",
        "amqp://u:secret@a,,b", "amqp://u:secret@,a", "amqp://u:secret@a, b"}) {
    try {
      parse_broker_url(url);
      ADD_FAILURE() << url;
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    }
  }
}

TEST(BrokerAddress, prints_as_a_url_without_credentials) {
  for (const char* url : {"amqp://broker:5672/", "amqps://broker:5671/scans",
                          "amqp://[::1]:7000/a%2Fb%20c", "amqp://a:5672,b:7000,[::1]:7001/scans"})
    EXPECT_EQ(to_string(address_of(url)), url);
  EXPECT_EQ(to_string(address_of("amqps://user:secret@broker/v")), "amqps://broker:5671/v");
}

}  // namespace
}  // namespace eckart::broker
