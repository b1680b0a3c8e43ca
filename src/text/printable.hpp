#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace eckart::text {

/// Escapes a name, such as a file name, for a message on one line, so that two different names
/// always look different. It escapes all bytes that could break the line, control a terminal, or
/// hide or reorder text: a newline as \n, other ASCII control characters as \x1b, bytes that are
/// not UTF-8 as \xff, invisible and bidirectional control characters as \u{202e}, a backslash as
/// \\. Letters of all languages are kept, with the joiners and variation selectors in them.
std::string printable(std::string_view name);

/// The same for a message that may contain names from printable(): a backslash is kept.
std::string printable_message(std::string_view message);

/// The same for JSON text, with the escapes of JSON (\u202e). Values do not change.
std::string printable_json(std::string_view json);

/// Replaces each code point beyond ASCII that printable() escapes by the result of `escape`. ASCII
/// and bytes that are not UTF-8 are kept. For formats with their own escapes.
std::string escape_invisible(std::string_view text,
                             const std::function<std::string(char32_t)>& escape);

}  // namespace eckart::text
