#include "telemetry/reason_note.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace eckart::telemetry {
namespace {

TEST(ReasonNote, says_what_failed_where_and_why) {
  const auto json = nlohmann::json::parse(
      to_json({.input = "/in/a b.png",
               .outcome = Outcome::failed(Stage::load, Reason::corrupt, "ends early"),
               .bytes = 12,
               .sha256 = "00ff",
               .time = std::chrono::system_clock::from_time_t(0)},
              "1.2"));
  EXPECT_EQ(json, (nlohmann::json{{"input", "/in/a b.png"},
                                  {"uri", "file:///in/a%20b.png"},
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
  EXPECT_EQ(input_of(to_json(note, "1")), std::filesystem::path(name));
}

TEST(ReasonNote, finds_no_input_in_what_is_none) {
  for (const char* text : {"", "[]", "{}", "{\"uri\": 1}", "{\"uri\": \"http://x\"}",
                           "{\"uri\": \"file:///%4\"}", "{\"uri\": \"file:///%zz\"}"})
    EXPECT_FALSE(input_of(text)) << text;
}

}  // namespace
}  // namespace eckart::telemetry
