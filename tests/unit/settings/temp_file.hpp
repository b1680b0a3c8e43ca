#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace eckart::settings {

/// A temporary file with a unique name, removed by the destructor.
class TempFile {
 public:
  explicit TempFile(std::string_view text)
      : path_(std::filesystem::path(testing::TempDir()) /
              ("eckart_settings_" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace eckart::settings
