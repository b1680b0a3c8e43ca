#include "cli/ledger_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "text/json.hpp"

namespace eckart::cli {
namespace {

using text::Json;

ledger::OutputEntry full_entry() {
  return {.output = "sub/a.png",
          .input = "/srv/in/sub/a.jpg",
          .settings = 0xfedcba9876543210,
          .output_index = 2,
          .state = {.size = 11, .mtime_ns = -12, .inode = 13},
          .bytes = 14,
          .root_length = 8,
          .output_mtime_ns = 15,
          .content_hash = std::string(31, 'h') + '\0',
          .report = R"({"psnr_db":31})"};
}

TEST(LedgerLine, has_every_field_of_an_output) {
  EXPECT_EQ(Json::parse(output_line(full_entry())), Json::parse(R"({
      "kind": "ledger_output", "output": "sub/a.png", "root": "/srv/in/", "input": "sub/a.jpg",
      "settings_hash": "fedcba9876543210", "output_index": 2, "input_bytes": 11,
      "input_mtime_ns": -12, "input_inode": 13, "output_bytes": 14, "output_mtime_ns": 15,
      "sha256": "68686868686868686868686868686868686868686868686868686868686868)"
                                                                R"(00",
      "report": "{\"psnr_db\":31}"})"));
  EXPECT_EQ(Json::parse(header_line()).value("kind", ""), "ledger");
  EXPECT_EQ(Json::parse(header_line()).value("eckart_ledger", 0), 1);
  EXPECT_NO_THROW(check_header(header_line()));
  EXPECT_EQ(settings_line("rank 5"), R"({"kind":"ledger_settings","settings_text":"rank 5"})");
}

TEST(LedgerLine, is_read_back_unchanged) {
  for (const bool is_utf8 : {true, false}) {
    ledger::OutputEntry entry = full_entry();
    if (!is_utf8) {
      entry.output = "\xff/a\n.png";
      entry.input = "/srv/\xfe/b\xff.jpg";
      entry.root_length = 7;
    }
    const auto again = std::get<ledger::OutputEntry>(parse_line(output_line(entry)));
    EXPECT_EQ(again.output, entry.output);
    EXPECT_EQ(again.input, entry.input);
    EXPECT_EQ(again.settings, entry.settings);
    EXPECT_EQ(again.output_index, entry.output_index);
    EXPECT_EQ(again.state, entry.state);
    EXPECT_EQ(again.bytes, entry.bytes);
    EXPECT_EQ(again.root_length, entry.root_length);
    EXPECT_EQ(again.output_mtime_ns, entry.output_mtime_ns);
    EXPECT_EQ(again.content_hash, entry.content_hash);
    EXPECT_EQ(again.report, entry.report);
  }
  for (int reason = 1; reason < kFailureReasonCount; ++reason) {
    const ledger::FailureEntry failure{"/srv/\xff.jpg", {1, 2, 3}, FailureReason(reason), "w\xff"};
    const auto again = std::get<ledger::FailureEntry>(parse_line(failure_line(failure)));
    EXPECT_EQ(again.input, failure.input);
    EXPECT_EQ(again.state, failure.state);
    EXPECT_EQ(again.reason, failure.reason);
    EXPECT_EQ(again.detail, failure.detail);
  }
  EXPECT_EQ(std::get<SettingsText>(parse_line(settings_line("a\xff"))).text, "a\xff");
}

std::string error_of(const std::string& line) {
  try {
    parse_line(line);
  } catch (const LineError& error) {
    return error.what();
  }
  return "none";
}

/// Returns the error of the line of full_entry(), with another value of a key.
std::string error_with(const char* key, const Json& value) {
  Json line = Json::parse(output_line(full_entry()));
  line[key] = value;
  return error_of(line.dump());
}

TEST(LedgerLine, is_refused_with_the_reason) {
  EXPECT_EQ(error_of("[1]"), "is not a JSON object");
  EXPECT_EQ(error_of("{}"), "has neither output nor reason nor settings_text");
  EXPECT_EQ(error_of("{\"a\":"), "invalid JSON from byte 6 on");
  for (const char* output :
       {"/a.png", "../a.png", "sub/../../a.png", "sub/./a.png", "sub//a.png", "sub/", "", "."})
    EXPECT_EQ(error_with("output", output),
              "output: '" + std::string(output) + "' is not a path below the output folder");
  EXPECT_EQ(error_with("root", "srv/"), "root: 'srv/' is not an absolute path");
  EXPECT_EQ(error_with("root", "/srv"), "root: '/srv' does not end with a slash");
  for (const char* hash : {"fedcba987654321", "fedcba98765432100", "fedcba987654321g", ""})
    EXPECT_EQ(error_with("settings_hash", hash),
              "settings: '" + std::string(hash) + "' is not 16 hexadecimal digits");
  EXPECT_EQ(error_with("output_index", 1.5), "output_index is not an integer");
  EXPECT_EQ(error_with("output_index", -1), "output_index: must not be negative");
  EXPECT_EQ(error_with("output_index", std::int64_t(1) << 31),
            "output_index: 2147483648 is out of range");
  EXPECT_EQ(error_with("output_index", (std::int64_t(1) << 31) - 1), "none");
  EXPECT_EQ(error_with("output_bytes", -1), "output_bytes: must not be negative");
  EXPECT_EQ(error_with("output_bytes", 0), "none");
  EXPECT_EQ(error_with("output_bytes", std::numeric_limits<std::uint64_t>::max()),
            "output_bytes: 18446744073709551615 is out of range");
  EXPECT_EQ(error_with("input_bytes", "x"), "input_bytes is not an integer");
  EXPECT_EQ(error_with("sha256", "00"), "sha256: must have 64 hexadecimal digits");
  EXPECT_EQ(error_with("sha256", "0"), "'0' is not hexadecimal");
  EXPECT_EQ(error_with("sha256", "0g"), "'0g' is not hexadecimal");
  EXPECT_EQ(error_with("output", Json{{"hex", "6"}}), "'6' is not hexadecimal");
  EXPECT_EQ(error_of(R"({"reason":"bad luck","input":"/a"})"),
            "reason: 'bad luck' is not a known reason");
  EXPECT_EQ(
      error_of(
          R"({"reason":"corrupt","input":"a","detail":"","input_bytes":1,"input_mtime_ns":2,"input_inode":3})"),
      "input: 'a' is not an absolute path");
}

TEST(LedgerLine, may_be_of_an_older_version) {
  Json line = Json::parse(output_line(full_entry()));
  line["input_size"] = 21;
  line.erase("input_bytes");
  line.erase("sha256");
  line.erase("report");
  const auto entry = std::get<ledger::OutputEntry>(parse_line(line.dump()));
  EXPECT_EQ(entry.state.size, 21);
  EXPECT_EQ(entry.content_hash, "");
  const auto failure = std::get<ledger::FailureEntry>(parse_line(
      R"({"failed_input":"/a","input_size":1,"input_mtime_ns":2,"input_inode":3,"reason":"corrupt","detail":"d"})"));
  EXPECT_EQ(failure.input, "/a");
}

TEST(LedgerHeader, must_be_of_this_version) {
  const auto error = [](const std::string& line) -> std::string {
    try {
      check_header(line);
    } catch (const LineError& wrong) {
      return wrong.what();
    }
    return "none";
  };
  EXPECT_EQ(error(R"({"eckart_ledger":2})"), "has version 2; this program reads version 1");
  EXPECT_EQ(error("{}"), "not a ledger export of eckart");
  EXPECT_EQ(error("[]"), "not a ledger export of eckart");
  EXPECT_EQ(error("x"), "invalid JSON from byte 1 on");
}

}  // namespace
}  // namespace eckart::cli
