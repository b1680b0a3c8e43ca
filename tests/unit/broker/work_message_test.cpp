#include "broker/work_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "text/json.hpp"

namespace eckart::broker {
namespace {

using ::testing::HasSubstr;

const WorkMessage kMessage = {
    .settings_hash = "0123456789abcdef",
    .images = {{"/data/a b.png", "in/a b.png", {10, 1700000000123456789, 7}},
               {"/data/\xff.png", "\xff.png", {0, -1, 9007199254740993}}}};

/// Why a message is refused; empty if it is accepted.
std::string error_of(const std::string& body) {
  try {
    parse_work_message(body);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

/// The same after a change of the JSON of kMessage.
std::string error_after(const std::function<void(text::Json&)>& change) {
  text::Json json = text::Json::parse(to_json(kMessage));
  change(json);
  return error_of(json.dump());
}

TEST(WorkMessage, returns_what_was_sent) {
  EXPECT_EQ(parse_work_message(to_json(kMessage)), kMessage);
}

TEST(WorkMessage, ignores_unknown_fields) {
  EXPECT_EQ(error_after([](text::Json& json) {
              json["priority"] = 3;
              json["images"][0]["color"] = "red";
            }),
            "");
}

TEST(WorkMessage, refuses_an_unknown_version) {
  EXPECT_THAT(error_after([](text::Json& json) { json["eckart_work"] = 2; }),
              HasSubstr("version 2"));
  EXPECT_THAT(error_after([](text::Json& json) { json["eckart_work"] = "1"; }),
              HasSubstr("eckart_work is not an integer"));
}

TEST(WorkMessage, refuses_other_messages) {
  for (const char* body : {"", "{}", "[]", "null", "{\"eckart_work\":1", "\xff\xfe", "hello"})
    EXPECT_EQ(error_of(body), "not a message of eckart enqueue") << body;
}

TEST(WorkMessage, refuses_outputs_outside_of_the_output_folder) {
  for (const char* relative : {"/etc/a.png", "../a.png", "a/../../b.png", "a/..", "./a.png", "",
                               "a//../b.png", "a/", ".eckart/a.png", "a/.eckart/b.png"})
    EXPECT_THAT(error_after([&](text::Json& json) { json["images"][1]["relative"] = relative; }),
                HasSubstr("image 2: relative is not a path below a folder"))
        << relative;
}

TEST(WorkMessage, refuses_inputs_without_an_absolute_path) {
  for (const char* path : {"a.png", "", "../a.png"})
    EXPECT_THAT(error_after([&](text::Json& json) { json["images"][0]["path"] = path; }),
                HasSubstr("image 1: path is not an absolute path"))
        << path;
}

TEST(WorkMessage, refuses_null_bytes) {
  const std::string with_null("/a\0b.png", 8);
  EXPECT_THAT(error_after([&](text::Json& json) { json["images"][0]["path"] = with_null; }),
              HasSubstr("path is not"));
  EXPECT_THAT(
      error_after([&](text::Json& json) { json["images"][0]["relative"] = with_null.substr(1); }),
      HasSubstr("relative is not"));
}

TEST(WorkMessage, refuses_numbers_that_are_no_state_of_a_file) {
  EXPECT_THAT(error_after([](text::Json& json) { json["images"][0]["size"] = -1; }),
              HasSubstr("size is negative"));
  EXPECT_THAT(error_after([](text::Json& json) { json["images"][0]["size"] = 1.5; }),
              HasSubstr("size is not an integer"));
  EXPECT_THAT(error_after([](text::Json& json) { json["images"][0]["inode"] = 1ULL << 63U; }),
              HasSubstr("inode is not an integer"));
  EXPECT_THAT(error_after([](text::Json& json) { json["images"][0].erase("mtime_ns"); }),
              HasSubstr("mtime_ns is missing"));
}

TEST(WorkMessage, refuses_values_of_other_types) {
  EXPECT_NE(error_after([](text::Json& json) { json["images"] = text::Json::array(); }), "");
  EXPECT_NE(error_after([](text::Json& json) { json["images"] = 3; }), "");
  EXPECT_NE(error_after([](text::Json& json) { json["images"][0] = 3; }), "");
  EXPECT_NE(error_after([](text::Json& json) { json["images"][0]["path"] = 3; }), "");
  EXPECT_NE(error_after([](text::Json& json) { json["settings"] = 3; }), "");
  EXPECT_NE(error_after([](text::Json& json) { json.erase("settings"); }), "");
}

TEST(WorkMessage, refuses_more_bytes_and_images_than_its_limits) {
  WorkMessage message{.settings_hash = "", .images = {kMaxWorkImages, kMessage.images[0]}};
  EXPECT_EQ(error_of(to_json(message)), "");
  message.images.push_back(kMessage.images[0]);
  EXPECT_THAT(error_of(to_json(message)), HasSubstr("10,001 images"));
  EXPECT_EQ(error_of(to_json(kMessage) + std::string(kMaxWorkBytes / 2, ' ')), "");
  EXPECT_THAT(error_of(to_json(kMessage) + std::string(kMaxWorkBytes, ' ')), HasSubstr("bytes"));
}

TEST(WorkMessage, refuses_deep_nesting) {
  EXPECT_EQ(error_of(std::string(kMaxWorkBytes, '[')), "the message is nested too deeply");
}

TEST(WorkMessage, is_split_by_images) {
  const auto messages = split_into_messages({5, kMessage.images[0]}, "h", 2);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].images.size(), 2u);
  EXPECT_EQ(messages[2].images.size(), 1u);
  EXPECT_EQ(messages[2].settings_hash, "h");
}

TEST(WorkMessage, is_split_so_that_each_part_is_accepted) {
  WorkImage long_path = kMessage.images[0];
  long_path.path += std::string(4000, '\xff');  // two digits for each byte
  const auto messages = split_into_messages({1500, long_path}, "h", kMaxWorkImages);
  EXPECT_GT(messages.size(), 1u);
  std::size_t images = 0;
  for (const WorkMessage& message : messages) {
    EXPECT_EQ(error_of(to_json(message)), "");
    images += message.images.size();
  }
  EXPECT_EQ(images, 1500u);
}

}  // namespace
}  // namespace eckart::broker
