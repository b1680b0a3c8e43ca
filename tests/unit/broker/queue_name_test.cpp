#include <gtest/gtest.h>

#include <string>

#include "broker/broker_connection.hpp"

namespace eckart::broker {
namespace {

TEST(QueueName, is_refused_if_a_broker_would_refuse_it) {
  for (const std::string& name : {std::string(), std::string("amq.work"), std::string(192, 'q'),
                                  std::string("a\nb"), std::string("a\0b", 3)})
    EXPECT_THROW(check_queue_name(name), FatalError) << name;
  for (const std::string& name : {std::string("scans 2026/ä"), std::string(191, 'q')})
    EXPECT_NO_THROW(check_queue_name(name)) << name;
}

}  // namespace
}  // namespace eckart::broker
