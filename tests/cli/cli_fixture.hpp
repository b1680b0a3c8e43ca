#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "core/error.hpp"
#include "io/read_file.hpp"
#include "synth/synth.hpp"
#include "tests/cli/eckart_process.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::test {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Runs `eckart` in a temporary folder; paths are relative to it.
class CliTest : public ::testing::Test {
 protected:
  ProcessResult run(const std::vector<std::string>& arguments,
                    EckartProcess::Options options = {}) {
    options.folder = folder_.path();
    return EckartProcess(arguments, options).wait();
  }
  static void wait_for(const std::function<bool()>& event) { EXPECT_TRUE(test::wait_for(event)); }
  fs::path at(const fs::path& relative) const { return folder_.path() / relative; }

  void write(const fs::path& relative, std::span<const std::byte> bytes) {
    fs::create_directories(at(relative).parent_path());
    std::ofstream(at(relative), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }
  void write(const fs::path& relative, const std::string& text) {
    write(relative, std::as_bytes(std::span(text)));
  }

  /// The path of an output of a report, relative to the folder of the test.
  std::string below_folder(const std::string& absolute) const {
    EXPECT_TRUE(fs::path(absolute).is_absolute()) << absolute;
    return fs::path(absolute).lexically_proximate(at(""));
  }

  static std::vector<std::byte> encoded(const std::string& codec, int rows = 24, int cols = 16,
                                        int channels = 1) {
    return codec::codec_for(parse_enum<ImageFormat>(codec).value())
        .encode(synth::synthesize({.kind = synth::SynthKind::texture,
                                   .rows = rows,
                                   .cols = cols,
                                   .channels = channels}),
                {});
  }
  void write_png(const fs::path& relative) { write(relative, encoded("png")); }

  /// Returns the files below a folder, ascending. Includes hidden files, except those below
  /// `.eckart`.
  Names files(const fs::path& relative) const {
    Names names;
    if (!fs::exists(at(relative))) return names;
    for (const auto& entry : fs::recursive_directory_iterator(at(relative))) {
      const fs::path name = entry.path().lexically_relative(at(relative));  // the file may be gone
      if (!entry.is_directory() && *name.begin() != ".eckart") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Decodes an image file. Throws ItemError if it is not complete.
  Image decode(const fs::path& relative) const {
    const auto file = io::read_file(at(relative), 1024);
    return codec::detect_codec(file).decode(file, {}).pixels;
  }

 private:
  const TempFolder folder_;
};

/// Returns the first line of `text` that contains `part`; empty if there is none.
inline std::string line_containing(const std::string& text, const std::string& part) {
  const std::size_t found = text.find(part);
  if (found == text.npos) return {};
  const std::size_t before = text.rfind('\n', found);
  const std::size_t begin = before == text.npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', found) - begin);
}

inline int count_occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace eckart::test
