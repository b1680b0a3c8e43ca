#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.hpp"
#include "core/peak_choice.hpp"
#include "core/preparation.hpp"
#include "core/rank_policy.hpp"
#include "core/residual_choice.hpp"
#include "settings/choices.hpp"

namespace eckart::settings {

// Types of values. Each type has:
//   expected()      describes the allowed values; follows "is not" in messages
//   kAcceptsList    whether a YAML list is also accepted
//   read(text, v)   sets v; throws std::invalid_argument and leaves v unchanged if the text is
//                   invalid. With kAcceptsList it takes a vector: the texts of the list, or one
//                   text
//   print(v)        returns v as YAML

/// Returns the text as one line for a message, cut after `max` bytes.
std::string one_line(std::string_view text, std::size_t max = 80);
std::string quote(std::string_view text);
/// Throws std::invalid_argument with the message "'text' is not" and `expected`.
[[noreturn]] void throw_invalid(std::string_view text, const std::string& expected);

struct Integer {
  static constexpr bool kAcceptsList = false;
  std::int64_t min;
  std::int64_t max;
  bool accepts_auto = false;  ///< also accepts `auto`, stored as kAuto; requires min > kAuto

  std::string expected() const;
  void read(std::string_view text, int& value) const;
  void read(std::string_view text, std::int64_t& value) const;
  std::string print(std::int64_t value) const;
};

inline Integer auto_or_integer(std::int64_t min, std::int64_t max) { return {min, max, true}; }

/// `lossless`, stored as kLosslessWebp, or 1..100.
struct WebpQuality {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "lossless or an integer from 1 to 100"; }
  void read(std::string_view text, int& value) const;
  std::string print(int value) const;
};

struct Number {
  static constexpr bool kAcceptsList = false;
  double min;
  double max;

  std::string expected() const;
  void read(std::string_view text, double& value) const;
  std::string print(double value) const;
};

struct Boolean {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "true or false"; }
  void read(std::string_view text, bool& value) const;
  std::string print(bool value) const { return value ? "true" : "false"; }
};

/// The name of an enum value.
template <NamedEnum Enum>
struct Choice {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "one of " + list_names<Enum>(); }
  void read(std::string_view text, Enum& value) const {
    const std::optional<Enum> named = parse_enum<Enum>(text);
    if (!named) throw_invalid(text, expected());
    value = *named;
  }
  std::string print(Enum value) const { return to_string(value); }
};

struct Text {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "text"; }
  void read(std::string_view text, std::string& value) const { value = text; }
  std::string print(const std::string& value) const;
};

struct AutoNoneOrFile {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "auto, none or the name of a file"; }
  void read(std::string_view text, FileChoice& value) const;
  std::string print(const FileChoice& value) const;
};

struct FileOrEmpty {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "the name of a file or \"\""; }
  void read(std::string_view text, std::string& value) const;
  std::string print(const std::string& value) const { return Text{}.print(value); }
};

/// The name of a watch, or empty.
struct WatchName {
  static constexpr bool kAcceptsList = false;
  static constexpr std::size_t kMaxBytes = 64;
  std::string expected() const { return "at most 64 letters, digits, '.', '_' or '-'"; }
  static bool is_allowed(char c);
  void read(std::string_view text, std::string& value) const;
  std::string print(const std::string& value) const { return Text{}.print(value); }
};

/// An address that only users of this machine can connect to: 127.0.0.1:9464, localhost:9464,
/// [::1]:9464, or the absolute path of a Unix socket.
struct ListenAddress {
  static constexpr bool kAcceptsList = false;
  std::string expected() const {
    return "a loopback address with a port, an absolute path or \"\"";
  }
  void read(std::string_view text, std::string& value) const;
  std::string print(const std::string& value) const { return Text{}.print(value); }
};

/// A pattern for files/output_name, or empty.
struct OutputNamePattern {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "the name of a file"; }
  void read(std::string_view text, std::string& value) const;
  std::string print(const std::string& value) const { return Text{}.print(value); }
};

/// WIDTHxHEIGHT, max:N, or empty.
struct TargetSizeText {
  static constexpr bool kAcceptsList = false;
  std::string expected() const;
  void read(std::string_view text, TargetSize& value) const;
  std::string print(const TargetSize& value) const { return Text{}.print(to_string(value)); }
};

/// The peak of PSNR: auto, dtype, range or a number.
struct PeakValue {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "auto, dtype, range or a positive number"; }
  void read(std::string_view text, PeakChoice& value) const;
  std::string print(const PeakChoice& value) const { return to_string(value); }
};

/// The gain of residuals: none, auto or a number.
struct ResidualValue {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "none, auto or a positive number"; }
  void read(std::string_view text, ResidualChoice& value) const;
  std::string print(const ResidualChoice& value) const { return to_string(value); }
};

/// A list of ranks: SPEC[,SPEC...].
struct RankList {
  static constexpr bool kAcceptsList = true;
  std::string expected() const { return "a rank or a list of ranks"; }
  void read(const std::vector<std::string>& texts, std::vector<RankPolicy>& value) const;
  std::string print(const std::vector<RankPolicy>& value) const;
};

/// One rank, or "".
struct OptionalRank {
  static constexpr bool kAcceptsList = false;
  std::string expected() const { return "a rank or \"\""; }
  void read(std::string_view text, std::optional<RankPolicy>& value) const;
  std::string print(const std::optional<RankPolicy>& value) const;
};

/// GPUs by number; an empty list means all.
struct DeviceList {
  static constexpr bool kAcceptsList = true;
  std::string expected() const { return "all or a list of GPU numbers"; }
  void read(const std::vector<std::string>& texts, std::vector<int>& value) const;
  std::string print(const std::vector<int>& value) const;
};

/// Returns the path in lexically normal form, without a trailing slash.
std::filesystem::path normalized_path(const std::filesystem::path& path);

struct AbsolutePath {
  static constexpr bool kAcceptsList = false;
  bool accepts_empty = false;

  std::string expected() const {
    return accepts_empty ? "an absolute path or \"\"" : "an absolute path";
  }
  void read(std::string_view text, std::filesystem::path& value) const;
  std::string print(const std::filesystem::path& value) const {
    return Text{}.print(value.native());
  }
};

/// Folders, stored in normalized form.
struct RelativeFolders {
  static constexpr bool kAcceptsList = true;
  std::string expected() const { return "a relative path without .. or a list of them"; }
  void read(const std::vector<std::string>& texts, std::vector<std::filesystem::path>& value) const;
  std::string print(const std::vector<std::filesystem::path>& value) const;
};

}  // namespace eckart::settings
