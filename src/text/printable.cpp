#include "text/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace eckart::text {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

struct CodePointRange {
  char32_t first, last;
};

/// Control, bidirectional, invisible and private characters, blanks that look like a space, and
/// noncharacters, in ascending order. The ideographic space is wider, and common in names.
constexpr CodePointRange kInvisible[] = {
    {0x80, 0x9f},         // C1: a terminal may interpret 0x9b as the start of an escape sequence
    {0xa0, 0xa0},         // no-break space
    {0xad, 0xad},         // soft hyphen
    {0x34f, 0x34f},       // combining grapheme joiner
    {0x61c, 0x61c},       // Arabic letter mark
    {0x115f, 0x1160},     // Hangul fillers
    {0x1680, 0x1680},     // Ogham space mark
    {0x17b4, 0x17b5},     // Khmer inherent vowels
    {0x180e, 0x180e},     // Mongolian vowel separator
    {0x2000, 0x200b},     // spaces of other widths, also zero
    {0x200e, 0x200f},     // left-to-right and right-to-left mark
    {0x2028, 0x202f},     // line and paragraph separator, embeddings and overrides, narrow space
    {0x205f, 0x206f},     // mathematical space, word joiner, invisible operators, isolates
    {0x2800, 0x2800},     // blank Braille pattern
    {0x3164, 0x3164},     // Hangul filler
    {0xe000, 0xf8ff},     // private: a font decides what it looks like
    {0xfdd0, 0xfdef},     // noncharacters
    {0xfeff, 0xfeff},     // byte order mark
    {0xffa0, 0xffa0},     // halfwidth Hangul filler
    {0xfff0, 0xfffb},     // unassigned, interlinear annotations
    {0x1bca0, 0x1bca3},   // shorthand format controls
    {0x1d173, 0x1d17a},   // musical format controls
    {0xe0000, 0xe00ff},   // tags
    {0xf0000, 0x10ffff},  // private
};

/// Variation selectors, and the characters that they apply to.
struct Variation {
  CodePointRange selectors, bases;
};
constexpr Variation kVariations[] = {
    {{0x180b, 0x180f}, {0x1820, 0x18aa}},      // Mongolian
    {{0xfe00, 0xfe0f}, {0x2000, 0x33ff}},      // symbols
    {{0xfe0e, 0xfe0f}, {0x1f000, 0x1faff}},    // emoji
    {{0xfe00, 0xfe02}, {0x3400, 0xfaff}},      // ideographs
    {{0xe0100, 0xe01ef}, {0x3400, 0xfaff}},    //
    {{0xe0100, 0xe01ef}, {0x20000, 0x3ffff}},  //
};

bool is_in(const CodePointRange& range, char32_t code) {
  return code >= range.first && code <= range.last;
}

bool is_invisible(char32_t code) {
  const auto range =
      std::lower_bound(std::begin(kInvisible), std::end(kInvisible), code,
                       [](const CodePointRange& r, char32_t c) { return r.last < c; });
  const bool is_noncharacter = (code & 0xfffeU) == 0xfffe;  // the last two of each plane
  return is_noncharacter || (range != std::end(kInvisible) && is_in(*range, code));
}

bool is_selector(char32_t code) {
  return std::any_of(std::begin(kVariations), std::end(kVariations),
                     [&](const Variation& v) { return is_in(v.selectors, code); });
}

bool is_variation_of(char32_t selector, char32_t base) {
  return std::any_of(std::begin(kVariations), std::end(kVariations), [&](const Variation& v) {
    return is_in(v.selectors, selector) && is_in(v.bases, base);
  });
}

bool is_joiner(char32_t code) { return code == 0x200c || code == 0x200d; }

/// The first character of a text. If the text does not begin with valid UTF-8, `bytes` is one byte
/// and `code` is 0.
struct Character {
  std::string_view bytes;
  bool is_utf8 = true;
  char32_t code = 0;
};

Character decode_first(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Character invalid{text.substr(0, 1), false, 0};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {text.substr(0, 1), true, lead};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return invalid;
  char32_t code = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return invalid;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool is_overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (is_overlong || is_surrogate || code > 0x10ffff) return invalid;
  return {text.substr(0, size), true, code};
}

/// Whether `text` begins with a visible character beyond ASCII: one that a joiner may join.
bool is_letter(std::string_view text) {
  if (text.empty()) return false;
  const char32_t code = decode_first(text).code;
  return code >= 0x80 && !is_invisible(code) && !is_joiner(code) && !is_selector(code);
}

/// Calls `visit` with each character and whether it is invisible.
template <class Visitor>
void for_each_character(std::string_view text, const Visitor& visit) {
  char32_t previous = 0;  // the previous character if it is visible and not ASCII; otherwise 0
  while (!text.empty()) {
    const Character character = decode_first(text);
    const char32_t code = character.code;
    text.remove_prefix(character.bytes.size());
    const bool is_hidden = is_joiner(code)     ? previous == 0 || !is_letter(text)
                           : is_selector(code) ? !is_variation_of(code, previous)
                                               : is_invisible(code);
    visit(character, is_hidden);
    previous = code < 0x80 || is_hidden || is_joiner(code) ? 0 : code;
  }
}

std::string hex(char32_t code) {
  std::string digits;
  do digits.insert(digits.begin(), kDigits[code % 16]);
  while ((code /= 16) != 0);
  return digits;
}

std::string escape_text(std::string_view text, bool is_name) {
  std::string line;
  for_each_character(text, [&](const Character& character, bool is_hidden) {
    const auto byte = static_cast<unsigned char>(character.bytes.front());
    if (is_hidden) {
      line += "\\u{" + hex(character.code) + '}';
    } else if (byte == '\n') {
      line += "\\n";
    } else if (byte < 0x20 || byte == 0x7f || !character.is_utf8) {
      line.append("\\x").append({kDigits[byte / 16], kDigits[byte % 16]});
    } else if (byte == '\\' && is_name) {
      line += "\\\\";
    } else {
      line += character.bytes;
    }
  });
  return line;
}

/// As \u202e, or as a surrogate pair if the code point has more than 16 bits.
std::string json_escape(char32_t code) {
  if (code > 0xffff)
    return json_escape(0xd7c0 + (code >> 10)) + json_escape(0xdc00 + (code & 0x3ff));
  const std::string digits = hex(code);
  return "\\u" + std::string(4 - digits.size(), '0') + digits;
}

}  // namespace

std::string printable(std::string_view name) { return escape_text(name, true); }

std::string printable_message(std::string_view message) { return escape_text(message, false); }

std::string printable_json(std::string_view json) { return escape_invisible(json, json_escape); }

std::string escape_invisible(std::string_view text,
                             const std::function<std::string(char32_t)>& escape) {
  const auto is_visible_ascii = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::ranges::all_of(text, is_visible_ascii)) return std::string(text);
  std::string result;
  for_each_character(text, [&](const Character& character, bool is_hidden) {
    if (is_hidden) {
      result += escape(character.code);
    } else {
      result += character.bytes;
    }
  });
  return result;
}

}  // namespace eckart::text
