#include "text/printable.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
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

struct HiddenRange {
  char32_t first, last;
};

std::string utf8(char32_t code) {
  if (code < 0x80) return {char(code)};
  if (code < 0x800) return {char(0xc0 | code >> 6), char(0x80 | (code & 63))};
  if (code < 0x10000)
    return {char(0xe0 | code >> 12), char(0x80 | (code >> 6 & 63)), char(0x80 | (code & 63))};
  return {char(0xf0 | code >> 18), char(0x80 | (code >> 12 & 63)), char(0x80 | (code >> 6 & 63)),
          char(0x80 | (code & 63))};
}

/// Both ends of each range are escaped, and the characters beside it are not.
TEST(PrintableText, escapes_all_of_each_range_of_hidden_characters) {
  for (const auto& [first, last] : {HiddenRange{0xad, 0xad},
                                    {0x34f, 0x34f},
                                    {0x61c, 0x61c},
                                    {0x115f, 0x1160},
                                    {0x1680, 0x1680},
                                    {0x17b4, 0x17b5},
                                    {0x2000, 0x200b},
                                    {0x2028, 0x202f},
                                    {0x205f, 0x206f},
                                    {0x2800, 0x2800},
                                    {0x3164, 0x3164},
                                    {0xfdd0, 0xfdef},
                                    {0xfeff, 0xfeff},
                                    {0xffa0, 0xffa0},
                                    {0xfff0, 0xfffb},
                                    {0x1bca0, 0x1bca3},
                                    {0x1d173, 0x1d17a},
                                    {0xe0000, 0xe00ff}}) {
    for (const char32_t code : {first, last}) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u{%x}", unsigned(code));
      EXPECT_EQ(printable(utf8(code)), escape);
    }
    for (const char32_t code : {first - 1, last + 1}) {
      const bool is_joiner_or_selector =
          code == 0x200c || code == 0xe0100 || code == 0x180f || (code & 0xfffe) == 0xfffe;
      if (!is_joiner_or_selector) {
        EXPECT_EQ(printable(utf8(code)), utf8(code)) << unsigned(code);
      }
    }
  }
  for (const char32_t code : {0x80, 0x9f, 0xa0, 0xe000, 0xf8ff, 0xf0000, 0x10ffff})
    EXPECT_EQ(printable(utf8(code)).substr(0, 3), "\\u{") << unsigned(code);
  for (const char32_t code : {0xa1, 0x7ff, 0x800, 0xd7ff, 0xf900, 0xfffd, 0x10000})
    EXPECT_EQ(printable(utf8(code)), utf8(code)) << unsigned(code);
}

/// A selector is kept after the first and the last of the characters that it applies to.
TEST(PrintableText, keeps_selectors_only_after_the_characters_that_they_apply_to) {
  const struct {
    HiddenRange selectors, bases;
  } variations[] = {
      {{0x180b, 0x180d}, {0x1820, 0x18aa}},   {{0xfe00, 0xfe0f}, {0x2010, 0x33ff}},
      {{0xfe0e, 0xfe0f}, {0x1f000, 0x1faff}}, {{0xfe00, 0xfe02}, {0x3400, 0xd7ff}},
      {{0xe0100, 0xe01ef}, {0x3400, 0xfaff}}, {{0xe0100, 0xe01ef}, {0x20000, 0x2fffd}}};
  for (const auto& [selectors, bases] : variations) {
    for (const char32_t base : {bases.first, bases.last}) {
      for (const char32_t selector : {selectors.first, selectors.last}) {
        const std::string text = utf8(base) + utf8(selector);
        EXPECT_EQ(printable(text), text) << unsigned(base) << " " << unsigned(selector);
      }
    }
    EXPECT_NE(printable(utf8(0xe9) + utf8(selectors.last)), utf8(0xe9) + utf8(selectors.last));
  }
  for (const auto& [base, selector] : {std::pair<char32_t, char32_t>{0x3400, 0xfe03},
                                       {0x1f000, 0xfe0d},
                                       {0x1fb00, 0xfe0f},
                                       {0x18ab, 0x180b},
                                       {0x181f, 0x180b}})
    EXPECT_NE(printable(utf8(base) + utf8(selector)), utf8(base) + utf8(selector))
        << unsigned(base);
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
  EXPECT_EQ(printable_json(utf8(0x10ffff) + utf8(0xffff)), "\\udbff\\udfff\\uffff");
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
