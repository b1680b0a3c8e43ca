#include "telemetry/reason_note.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace eckart::telemetry {
namespace {

TEST(ReasonNote, says_what_failed_where_and_why) {
  const auto json = nlohmann::json::parse(
      to_json({.input = "/in/a b.png",
               .root = "/in",
               .outcome = Outcome::failed(Stage::load, Reason::corrupt, "ends early"),
               .bytes = 12,
               .sha256 = "00ff",
               .time = std::chrono::system_clock::from_time_t(0)},
              "1.2"));
  EXPECT_EQ(json, (nlohmann::json{{"input", "/in/a b.png"},
                                  {"uri", "file:///in/a%20b.png"},
                                  {"root_uri", "file:///in"},
                                  {"stage", "load"},
                                  {"reason", "corrupt"},
                                  {"error", "ends early"},
                                  {"bytes", 12},
                                  {"sha256", "00ff"},
                                  {"time", "1970-01-01T00:00:00Z"},
                                  {"version", "eckart 1.2"}}));
}

TEST(ReasonNote, names_its_input_whatever_bytes_that_has) {
  std::string name = "/in/";
  for (int byte = 1; byte < 256; ++byte) name += char(byte);
  ReasonNote note;
  note.input = name;
  note.root = name + "/";
  const auto from = input_of(to_json(note, "1"));
  ASSERT_TRUE(from);
  EXPECT_EQ(from->input, std::filesystem::path(name));
  EXPECT_EQ(from->root, note.root);
}

TEST(ReasonNote, says_why_there_is_no_hash) {
  ReasonNote note;
  note.why_no_sha256 = "is not a regular file";
  const auto json = nlohmann::json::parse(to_json(note, "1"));
  EXPECT_EQ(json["sha256"], "");
  EXPECT_EQ(json["no_sha256"], "is not a regular file");
}

TEST(ReasonNote, names_no_root_where_an_earlier_version_wrote_it) {
  const auto from = input_of(R"({"uri": "file:///in/a.png"})");
  ASSERT_TRUE(from);
  EXPECT_EQ(from->input, "/in/a.png");
  EXPECT_EQ(from->root, "");
}

TEST(ReasonNote, shows_what_is_invisible_in_a_name) {
  ReasonNote note;
  note.input = "/in/\u202egnp.a\xff\u009b";
  const std::string json = to_json(note, "1");
  EXPECT_NE(json.find("/in/\\u202egnp.a\ufffd\\u009b"), json.npos) << json;
  EXPECT_EQ(nlohmann::json::parse(json).at("input"), "/in/\u202egnp.a\ufffd\u009b");
}

TEST(ReasonNote, finds_no_input_in_what_is_none) {
  for (const char* text : {"", "[]", "{}", "{\"uri\": 1}", "{\"uri\": \"http://x\"}",
                           "{\"uri\": \"file:///%4\"}", "{\"uri\": \"file:///%zz\"}"})
    EXPECT_FALSE(input_of(text)) << text;
}

}  // namespace
}  // namespace eckart::telemetry
