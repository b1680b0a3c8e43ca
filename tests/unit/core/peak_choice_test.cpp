#include "core/peak_choice.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/residual_choice.hpp"

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

/// What the function throws for the text.
template <class Parse>
std::string choice_error(const Parse& parse, std::string_view text) {
  try {
    parse(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(PeakChoice, has_the_source_that_is_named) {
  EXPECT_EQ(parse_peak("auto"), (PeakChoice{PeakSource::automatic}));
  EXPECT_EQ(parse_peak("dtype"), (PeakChoice{PeakSource::dtype}));
  EXPECT_EQ(parse_peak("range"), (PeakChoice{PeakSource::range}));
  EXPECT_EQ(parse_peak("4095"), (PeakChoice{PeakSource::number, 4095}));
  EXPECT_EQ(choice_error(parse_peak, "bits_stored"),
            "peak 'bits_stored': expected auto, dtype, range or a positive number");
}

TEST(ResidualChoice, is_parsed_from_its_text) {
  EXPECT_EQ(parse_residual("none"), ResidualChoice{});
  EXPECT_EQ(parse_residual("auto"), (ResidualChoice{ResidualGain::automatic}));
  EXPECT_EQ(parse_residual("0.25"), (ResidualChoice{ResidualGain::number, 0.25}));
  for (const char* text : {"none", "auto", "8", "0.25"}) {
    EXPECT_EQ(to_string(parse_residual(text)), text);
    EXPECT_EQ(parse_residual(text).is_written(), std::string_view(text) != "none") << text;
  }
  for (const char* text : {"", "0", "-1", "nan", "inf", "number", "Auto", "8 ", "x8"}) {
    EXPECT_EQ(choice_error(parse_residual, text),
              "residual '" + std::string(text) + "': expected none, auto or a positive number");
  }
}

}  // namespace
}  // namespace eckart
