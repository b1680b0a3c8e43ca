#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace eckart {

/// A name, such as a file's, for a message on one line. What could break the line, command a
/// terminal, hide, or reorder what is shown is escaped, so that two different names never look the
/// same for it: a newline as \n, another control character of ASCII as \x1b, a byte that is not
/// UTF-8 as \xff, an invisible or bidirectional control character as \u{202e}, a backslash as \\.
/// Letters of every language stay; so do joiners and variation selectors within them.
std::string printable(std::string_view name);

/// The same of a message that may hold names from printable(): a backslash stays as it is.
std::string printable_message(std::string_view message);

/// The same of JSON, with its own escapes (\u202e): its values stay what they are.
std::string printable_json(std::string_view json);

/// Replaces each code point that printable() escapes by what `escape` gives for it. For formats
/// with escapes of their own: bytes of ASCII, and those that are not UTF-8, stay.
std::string escape_invisible(std::string_view text,
                             const std::function<std::string(char32_t)>& escape);

}  // namespace eckart
