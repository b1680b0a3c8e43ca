#include "text/printable.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eckart::text {
namespace {

TEST(PrintableText, keeps_ordinary_text) {
  EXPECT_EQ(printable("a b/\xc3\xa4.png"), "a b/\xc3\xa4.png");
  EXPECT_EQ(printable(""), "");
}

TEST(PrintableText, keeps_letters_of_every_language) {
  for (const std::string name : {
           "Übergröße.png", "Ёлка.png", "ελληνικά.png", "עברית.png", "العربية.png", "हिन्दी.png",
           "ไทย.png", "한국어.png", "日本語.png", "ﬁ.png", "𝔘𠀀.png", "👍🏽.png",
           "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645.png",  // Persian, with a non-joiner
           "\u0915\u094d\u200d\u0937.png",                          // Hindi, with a joiner
           "\u2764\ufe0f\u200d\U0001f525.png",                      // an emoji of four code points
           "\u845b\U000e0100.png",                                  // a variant of an ideograph
       })
    EXPECT_EQ(printable(name), name);
}

TEST(PrintableText, escapes_newlines_and_terminal_commands) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a\\nb\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("a\u009b31m"), "a\\u{9b}31m") << "a terminal's command in one character";
  EXPECT_EQ(printable("a\u0085b\u2028c\u2029d"), "a\\u{85}b\\u{2028}c\\u{2029}d");
}

TEST(PrintableText, escapes_bidirectional_and_invisible_characters) {
  EXPECT_EQ(printable("a\u202egnp.exe"), "a\\u{202e}gnp.exe");
  EXPECT_EQ(printable("\u200e\u200f\u061c"), "\\u{200e}\\u{200f}\\u{61c}");
  EXPECT_EQ(printable("\u202a\u202b\u202c\u202d"), "\\u{202a}\\u{202b}\\u{202c}\\u{202d}");
  EXPECT_EQ(printable("\u2066\u2067\u2068\u2069"), "\\u{2066}\\u{2067}\\u{2068}\\u{2069}");
  EXPECT_EQ(printable("\ufeffa\u200bb\u2060c\u00add"), "\\u{feff}a\\u{200b}b\\u{2060}c\\u{ad}d");
  EXPECT_EQ(printable("\U000e0041\U0001fffe\uffff"), "\\u{e0041}\\u{1fffe}\\u{ffff}");
}

TEST(PrintableText, escapes_blanks_that_look_like_a_space_and_private_characters) {
  EXPECT_EQ(printable("a\u00a0b\u2009c\u202fd\u2800"), "a\\u{a0}b\\u{2009}c\\u{202f}d\\u{2800}");
  EXPECT_EQ(printable("\ue000\uf8ff\U000f0000\U0010fffd"),
            "\\u{e000}\\u{f8ff}\\u{f0000}\\u{10fffd}");
  EXPECT_EQ(printable("写真\u30001.png"), "写真\u30001.png") << "wider than a space";
}

TEST(PrintableText, escapes_joiners_and_selectors_without_effect) {
  EXPECT_EQ(printable("a\u200db\u200c.png"), "a\\u{200d}b\\u{200c}.png");
  EXPECT_EQ(printable("ä\u200d.png"), "ä\\u{200d}.png") << "looks like ä.png";
  EXPECT_EQ(printable("\u0645\u200c\u200c\u0645"), "\u0645\\u{200c}\\u{200c}\u0645");
  EXPECT_EQ(printable("a\ufe0f\u0645\ufe00"), "a\\u{fe0f}\u0645\\u{fe00}");
  EXPECT_EQ(printable("\u2764\ufe0f\ufe0f"), "\u2764\ufe0f\\u{fe0f}");
}

TEST(PrintableText, escapes_each_byte_that_is_not_utf8) {
  EXPECT_EQ(printable("\xff.png"), "\\xff.png");
  EXPECT_EQ(printable("\x9b.png"), "\\x9b.png") << "C1 as one byte";
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(printable("\xe2\x80z"), "\\xe2\\x80z");
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a newline in too many bytes";
  EXPECT_EQ(printable("\xe0\x80\x8a\xf0\x80\x80\x8a"), "\\xe0\\x80\\x8a\\xf0\\x80\\x80\\x8a");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "the first half of a pair of UTF-16";
  EXPECT_EQ(printable("\xed\xbf\xbf"), "\\xed\\xbf\\xbf") << "the last second half";
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xf8"), "\\xf4\\x90\\x80\\x80\\xf8");
  EXPECT_EQ(printable("\xf0\x9f\x91"), "\\xf0\\x9f\\x91");
}

TEST(PrintableText, escapes_different_names_differently) {
  EXPECT_EQ(printable("a\\x1b"), "a\\\\x1b") << "has four characters that are seen";
  EXPECT_NE(printable("a\\n"), printable("a\n"));
  EXPECT_NE(printable("\u00ff"), printable("\xff"));
}

/// printable_message() does not escape the names in a message again.
TEST(PrintableMessage, does_not_escape_twice) {
  const std::string message = printable("a\n\\\u202e\xff") + ": \x1b[31m";
  const std::string line = printable_message(message);
  EXPECT_EQ(line, "a\\n\\\\\\u{202e}\\xff: \\x1b[31m");
  EXPECT_EQ(printable_message(line), line);
}

TEST(PrintableJson, keeps_the_values) {
  EXPECT_EQ(printable_json("[\"a\\n\u202e\u0085\U000e0041\u00e4\"]"),
            "[\"a\\n\\u202e\\u0085\\udb40\\udc41\u00e4\"]");
}

TEST(VisibleText, escapes_only_invisible_characters) {
  std::vector<char32_t> code_points;
  const auto escape = [&](char32_t code) {
    code_points.push_back(code);
    return std::string("?");
  };
  EXPECT_EQ(escape_invisible("\"\\\n\x7f\xc3\xa4\xff\u202e\u0085", escape),
            "\"\\\n\x7f\xc3\xa4\xff??");
  EXPECT_EQ(code_points, (std::vector<char32_t>{0x202e, 0x85}));
}

}  // namespace
}  // namespace eckart::text
