#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "settings/watches.hpp"
#include "temp_file.hpp"

namespace eckart::settings {

/// Returns the error for a file with this text, with the file name shortened to "f"; "" if it is
/// accepted.
inline std::string file_error(std::string_view yaml) {
  const TempFile file(yaml);
  try {
    load_configuration(file.path());
  } catch (const SettingsError& error) {
    const std::string text = error.what();
    const std::string path = file.path().string();
    EXPECT_TRUE(text.starts_with(path)) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return "f" + text.substr(path.size());
  }
  return "";
}

}  // namespace eckart::settings
