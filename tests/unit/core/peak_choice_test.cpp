#include "core/peak_choice.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace eckart {
namespace {

TEST(PeakChoice, is_parsed_from_its_text) {
  for (const char* text : {"auto", "dtype", "range", "4095", "1", "0.5"})
    EXPECT_EQ(to_string(parse_peak(text)), text);
}

TEST(PeakChoice, rejects_what_is_not_a_peak) {
  for (const char* text :
       {"", "0", "-1", "nan", "inf", "1e999", "number", "Range", "255 ", "12bit"})
    EXPECT_THROW(parse_peak(text), std::invalid_argument) << text;
}

}  // namespace
}  // namespace eckart
