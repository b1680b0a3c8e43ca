#include "broker/worker_report.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eckart::broker {
namespace {

TEST(WorkerReport, survives_its_message) {
  const auto read = parse_worker_report(to_body({.name = "node1 \"a\"", .in_flight = 3}));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, "node1 \"a\"");
  EXPECT_EQ(read->in_flight, 3);
}

/// Any program may answer.
TEST(WorkerReport, is_not_read_from_other_messages) {
  for (const char* body :
       {"", "{", "null", "[]", "\"a\"", "{}", R"({"worker":"a"})", R"({"in_flight":1})",
        R"({"worker":1,"in_flight":1})", R"({"worker":"a","in_flight":"1"})",
        R"({"worker":"a","in_flight":1.5})", R"({"worker":"a","in_flight":null})", "\xff"})
    EXPECT_FALSE(parse_worker_report(body).has_value()) << body;
}

}  // namespace
}  // namespace eckart::broker
