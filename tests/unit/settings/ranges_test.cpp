// Every key with a range accepts both ends of the range and rejects values outside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/positive_number.hpp"
#include "file_error.hpp"
#include "settings/settings.hpp"
#include "settings/value_types.hpp"
#include "settings/watches.hpp"

namespace eckart::settings {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;

struct KeyRange {
  std::string key;  ///< "batch.pad"
  bool is_integer;
  std::string min, max;  ///< as the documentation and the messages show them
};

std::optional<KeyRange> range_in(const std::string& line) {
  static const std::regex pattern(R"(\((?:auto or )?an? (integer|number) from (\S+) to (\S+)\)$)");
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return std::nullopt;
  return KeyRange{"", match[1] == "integer", match[2], match[3]};
}

/// Finds the keys with a range in YAML text of to_yaml(), indented by at least `indent` columns.
std::vector<KeyRange> ranges_in(const std::string& yaml, std::size_t indent) {
  std::vector<KeyRange> ranges;
  std::istringstream lines(yaml);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t column = line.find_first_not_of(" -");
    if (column == std::string::npos || column < indent) continue;
    const std::string name = line.substr(column, line.find(':') - column);
    if (column == indent) section.clear();
    if (column == indent && line.ends_with(":")) section = name + ".";
    if (auto range = range_in(line)) {
      range->key = section + name;
      ranges.push_back(*range);
    }
  }
  return ranges;
}

std::string above_max(const KeyRange& range) {
  return range.is_integer ? std::to_string(std::stoll(range.max) + 1)
                          : shortest_text(std::stod(range.max) * 1.001);
}

std::string below_min(const KeyRange& range) {
  return range.is_integer ? std::to_string(std::stoll(range.min) - 1)
                          : shortest_text(std::stod(range.min) * 0.999);
}

/// `error` returns the error of a file that assigns a value to a key; "" if it is accepted.
template <class Error>
void expect_range_limits(const std::vector<KeyRange>& ranges, const Error& error) {
  for (const KeyRange& range : ranges) {
    EXPECT_EQ(error(range.key, range.min), "") << range.key;
    EXPECT_EQ(error(range.key, range.max), "") << range.key;
    const std::string expected = " from " + range.min + " to " + range.max;
    for (const std::string& beyond : {below_min(range), above_max(range)}) {
      EXPECT_THAT(error(range.key, beyond),
                  AllOf(HasSubstr(range.key + ": '" + beyond + "' is not "), EndsWith(expected)));
    }
  }
}

std::vector<std::string> keys_of(const std::vector<KeyRange>& ranges) {
  std::vector<std::string> keys;
  for (const KeyRange& range : ranges) keys.push_back(range.key);
  return keys;
}

TEST(SettingRange, is_exactly_what_every_key_accepts) {
  const std::vector<KeyRange> ranges = ranges_in(to_yaml(Settings{}), 0);
  EXPECT_GE(ranges.size(), 15U);
  EXPECT_THAT(keys_of(ranges), Contains("limits.decode_s"));
  EXPECT_THAT(keys_of(ranges), Contains("cuda.memory_fraction"));
  expect_range_limits(ranges, [](const std::string& key, const std::string& value) {
    return file_error(key + ": " + value + "\n");
  });
}

TEST(SettingRange, is_exactly_what_every_watch_key_accepts) {
  const std::string watch = "watches:\n- {input: /a, output: /b";
  const TempFile file(watch + "}\n");
  const std::vector<KeyRange> ranges = ranges_in(to_yaml(load_configuration(file.path())), 4);
  EXPECT_GE(ranges.size(), 6U);
  EXPECT_THAT(keys_of(ranges), Contains("quarantine.max_mb"));
  expect_range_limits(ranges, [&](const std::string& key, const std::string& value) {
    return file_error(watch + ", " + key + ": " + value + "}\n");
  });
}

TEST(SettingRange, is_from_1_to_65535_for_a_port) {
  const auto error = [](const std::string& port) {
    return file_error("telemetry: {listen: 'localhost:" + port + "'}\n");
  };
  EXPECT_EQ(error("1"), "");
  EXPECT_EQ(error("65535"), "");
  EXPECT_THAT(error("0"), HasSubstr("'0' is not an integer from 1 to 65535"));
  EXPECT_THAT(error("65536"), HasSubstr("'65536' is not an integer from 1 to 65535"));
}

TEST(SettingRange, is_from_0_to_1023_for_a_gpu_number) {
  EXPECT_EQ(file_error("cuda: {devices: [0, 1023]}\n"), "");
  EXPECT_THAT(file_error("cuda: {devices: [1024]}\n"),
              HasSubstr("'1024' is not an integer from 0 to 1023"));
}

}  // namespace
}  // namespace eckart::settings
