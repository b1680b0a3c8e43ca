#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.hpp"

namespace eckart::settings {

/// One setting: its line of the table in schema.cpp.
struct Key {
  std::string_view path;     ///< "batch.linger_ms"
  std::string_view comment;  ///< what it does
  std::string expected;      ///< what its value may be
  bool takes_list;
  std::function<void(Settings&, std::string_view text)> read;  ///< throws std::invalid_argument
  std::function<std::string(const Settings&)> print;           ///< the value as YAML
};

/// All keys, in the order of the file; those of a section stand together.
const std::vector<Key>& schema();

/// nullptr if there is none.
const Key* find_key(std::string_view path);

/// Whether keys stand below `path`; the empty path is the whole file.
bool is_section(std::string_view path);

/// The key or section that was probably meant; empty if none is near.
std::string_view nearest(std::string_view path);

}  // namespace eckart::settings
