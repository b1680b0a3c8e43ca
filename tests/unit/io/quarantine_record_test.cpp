#include "io/quarantine_record.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace eckart::io {
namespace {

TEST(QuarantineRecord, has_input_stage_reason_and_detail) {
  const auto json = nlohmann::json::parse(
      to_json({.input = "/in/a b.png",
               .root = "/in",
               .real_root = "/disk/in",
               .outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "ends early"),
               .bytes = 12,
               .sha256 = "00ff",
               .time = std::chrono::system_clock::from_time_t(0)},
              "1.2"));
  EXPECT_EQ(json, (nlohmann::json{{"kind", "quarantine_record"},
                                  {"input", "/in/a b.png"},
                                  {"uri", "file:///in/a%20b.png"},
                                  {"root_uri", "file:///in"},
                                  {"real_root_uri", "file:///disk/in"},
                                  {"stage", "load"},
                                  {"reason", "corrupt"},
                                  {"detail", "ends early"},
                                  {"input_bytes", 12},
                                  {"sha256", "00ff"},
                                  {"sha256_error", nullptr},
                                  {"time", "1970-01-01T00:00:00Z"},
                                  {"version", "1.2"}}));
}

TEST(QuarantineRecord, preserves_any_bytes_of_the_input_path) {
  std::string name = "/in/";
  for (int byte = 1; byte < 256; ++byte) name += char(byte);
  QuarantineRecord record;
  record.input = name;
  record.root = name + "/";
  record.real_root = "/disk/" + name.substr(4);
  const auto from = parse_quarantined_input(to_json(record, "1"));
  ASSERT_TRUE(from);
  EXPECT_EQ(from->input, std::filesystem::path(name));
  EXPECT_EQ(from->root, record.root);
  EXPECT_EQ(from->real_root, record.real_root);
}

TEST(QuarantineRecord, has_the_error_when_there_is_no_hash) {
  QuarantineRecord record;
  record.sha256_error = "is not a regular file";
  const auto json = nlohmann::json::parse(to_json(record, "1"));
  EXPECT_TRUE(json["sha256"].is_null());
  EXPECT_EQ(json["sha256_error"], "is not a regular file");
}

TEST(QuarantineRecord, has_no_root_when_the_key_is_missing) {
  const auto from = parse_quarantined_input(R"({"uri": "file:///in/a.png"})");
  ASSERT_TRUE(from);
  EXPECT_EQ(from->input, "/in/a.png");
  EXPECT_EQ(from->root, "");
}

TEST(QuarantineRecord, escapes_invisible_characters) {
  QuarantineRecord record;
  record.input = "/in/\u202egnp.a\xff\u009b";
  const std::string json = to_json(record, "1");
  EXPECT_NE(json.find("/in/\\u202egnp.a\ufffd\\u009b"), json.npos) << json;
  EXPECT_EQ(nlohmann::json::parse(json).at("input"), "/in/\u202egnp.a\ufffd\u009b");
}

TEST(QuarantineRecord, rejects_text_that_is_not_a_record) {
  for (const char* text : {"", "[]", "{}", "{\"uri\": 1}", "{\"uri\": \"http://x\"}",
                           "{\"uri\": \"file:///%4\"}", "{\"uri\": \"file:///%zz\"}"})
    EXPECT_FALSE(parse_quarantined_input(text)) << text;
}

/// A system call would use the part before the null byte, which is the path of another file.
TEST(QuarantineRecord, rejects_a_path_with_a_null_byte) {
  for (const char* text :
       {R"({"uri": "file:///in/a.png%00b"})", R"({"uri": "file:///in/a.png\u0000b"})",
        R"({"uri": "file:///in/a.png", "root_uri": "file:///in%00"})",
        R"({"uri": "file:///in/a.png", "root_uri": "file:///in", "real_root_uri": "file:///%00"})"})
    EXPECT_FALSE(parse_quarantined_input(text)) << text;
}

}  // namespace
}  // namespace eckart::io
