#include "settings/value_types.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/positive_number.hpp"
#include "core/rank_policy.hpp"
#include "core/rank_spec.hpp"
#include "files/output_name.hpp"
#include "settings/settings.hpp"
#include "text/printable.hpp"

namespace eckart::settings {
namespace {

constexpr std::string_view kLosslessName = "lossless";

/// Converts a list to its form as a single text.
std::string join(const std::vector<std::string>& texts, const std::string& expected) {
  if (texts.empty()) throw std::invalid_argument("an empty list is not " + expected);
  std::string text = texts.front();
  for (std::size_t i = 1; i < texts.size(); ++i) text += "," + texts[i];
  return text;
}

/// Parses all of `text` as a number; returns false if that fails.
template <class T>
bool parse_whole(std::string_view text, T& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end;
}

/// Returns the YAML escape: \x1b, or \U0000202e for a code above 0xff.
std::string yaml_escape(char32_t code) {
  char escape[16];
  std::snprintf(escape, sizeof escape, code > 0xff ? "\\U%08x" : "\\x%02x", unsigned(code));
  return escape;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t max) {
  if (max < text.size()) {  // do not cut inside a UTF-8 sequence
    while (max > 0 && (static_cast<unsigned char>(text[max]) & 0xc0U) == 0x80) --max;
  }
  const std::string line = text::printable_message(text.substr(0, max));
  return text.size() > max ? line + "..." : line;
}

std::string quote(std::string_view text) {
  std::string quoted = "'";
  return quoted.append(one_line(text)).append("'");
}

void throw_invalid(std::string_view text, const std::string& expected) {
  throw std::invalid_argument(quote(text) + " is not " + expected);
}

std::string Integer::expected() const {
  return (accepts_auto ? "auto or an integer from " : "an integer from ") + std::to_string(min) +
         " to " + std::to_string(max);
}

void Integer::read(std::string_view text, std::int64_t& value) const {
  std::int64_t number = 0;
  if (accepts_auto && text == "auto") {
    value = kAuto;
  } else if (parse_whole(text, number) && number >= min && number <= max) {
    value = number;
  } else {
    throw_invalid(text, expected());
  }
}

void Integer::read(std::string_view text, int& value) const {
  std::int64_t wide = 0;
  read(text, wide);
  if (!std::in_range<int>(wide)) throw_invalid(text, expected());
  value = static_cast<int>(wide);
}

std::string Integer::print(std::int64_t value) const {
  return accepts_auto && value == kAuto ? "auto" : std::to_string(value);
}

void WebpQuality::read(std::string_view text, int& value) const {
  int quality = kLosslessWebp;
  if (text != kLosslessName && (!parse_whole(text, quality) || quality < 1 || quality > 100))
    throw_invalid(text, expected());
  value = quality;
}

std::string WebpQuality::print(int value) const {
  return value == kLosslessWebp ? std::string(kLosslessName) : std::to_string(value);
}

std::string Number::expected() const {
  return "a number from " + shortest_text(min) + " to " + shortest_text(max);
}

void Number::read(std::string_view text, double& value) const {
  double number = 0;
  // NaN fails both comparisons.
  if (!parse_whole(text, number) || !(number >= min && number <= max))
    throw_invalid(text, expected());
  value = number;
}

std::string Number::print(double value) const { return shortest_text(value); }

void Boolean::read(std::string_view text, bool& value) const {
  if (text != "true" && text != "false") throw_invalid(text, expected());
  value = text == "true";
}

std::string Text::print(const std::string& value) const {
  std::string escaped;
  for (const char c : value) {
    if (c == '"' || c == '\\') escaped += '\\';
    const auto byte = static_cast<unsigned char>(c);
    escaped += byte < 0x20 || byte == 0x7f ? yaml_escape(byte) : std::string(1, c);
  }
  return "\"" + text::escape_invisible(escaped, yaml_escape) + "\"";
}

void AutoNoneOrFile::read(std::string_view text, FileChoice& value) const {
  if (text.empty()) throw_invalid(text, expected());
  if (text == "auto") {
    value = {};
  } else {
    value = text == "none" ? FileChoice::none() : FileChoice::at(text);
  }
}

std::string AutoNoneOrFile::print(const FileChoice& value) const {
  if (value.is_auto()) return "auto";
  return value.is_none() ? "none" : Text{}.print(value.file.native());
}

void FileOrEmpty::read(std::string_view text, std::string& value) const {
  if (text.ends_with('/')) throw_invalid(text, expected());
  value = text;
}

bool WatchName::is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

void WatchName::read(std::string_view text, std::string& value) const {
  if (text.size() > kMaxBytes || !std::all_of(text.begin(), text.end(), is_allowed))
    throw_invalid(text, expected());
  value = text;
}

void ListenAddress::read(std::string_view text, std::string& value) const {
  if (text.empty() || (text.front() == '/' && !text.ends_with('/'))) {
    value = text;
    return;
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  const bool is_loopback = host == "127.0.0.1" || host == "localhost" || host == "[::1]";
  if (colon == text.npos || !is_loopback) throw_invalid(text, expected());
  int port = 0;
  Integer{1, 65535}.read(text.substr(colon + 1), port);
  value = text;
}

void PeakValue::read(std::string_view text, PeakChoice& value) const try {
  value = parse_peak(text);
} catch (const std::invalid_argument&) {
  throw_invalid(text, expected());
}

void ResidualValue::read(std::string_view text, ResidualChoice& value) const try {
  value = parse_residual(text);
} catch (const std::invalid_argument&) {
  throw_invalid(text, expected());
}

void OutputNamePattern::read(std::string_view text, std::string& value) const {
  if (!text.empty()) files::validate_output_name(text);
  value = text;
}

std::string TargetSizeText::expected() const {
  return "WIDTHxHEIGHT or max:N with sides from 1 to " + std::to_string(TargetSize::kMaxSide) +
         ", or \"\"";
}

void TargetSizeText::read(std::string_view text, TargetSize& value) const {
  const std::optional<TargetSize> size = parse_target_size(text);
  if (!size) throw_invalid(text, expected());
  value = *size;
}

void RankList::read(const std::vector<std::string>& texts, std::vector<RankPolicy>& value) const {
  value = parse_ranks(join(texts, expected()));
}

void OptionalRank::read(std::string_view text, std::optional<RankPolicy>& value) const {
  if (text.empty()) {
    value.reset();
    return;
  }
  const std::vector<RankPolicy> ranks = parse_ranks(text);
  if (ranks.size() != 1) throw_invalid(text, expected());
  value = ranks.front();
}

std::string OptionalRank::print(const std::optional<RankPolicy>& value) const {
  return Text{}.print(value ? to_string(*value) : "");
}

std::string RankList::print(const std::vector<RankPolicy>& value) const {
  std::string list;
  for (const RankPolicy& rank : value) list += (list.empty() ? "" : ",") + to_string(rank);
  return Text{}.print(list);
}

void DeviceList::read(const std::vector<std::string>& texts, std::vector<int>& value) const {
  constexpr Integer kNumber{0, 1023};
  const std::string text = join(texts, expected());
  std::vector<int> numbers;
  for (std::string_view rest = text; text != "all";) {
    const std::size_t comma = rest.find(',');
    int number = 0;
    if (!parse_whole(rest.substr(0, comma), number)) throw_invalid(text, expected());
    kNumber.read(rest.substr(0, comma), number);
    if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
      throw std::invalid_argument(quote(text) + " names GPU " + std::to_string(number) + " twice");
    }
    numbers.push_back(number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  value = std::move(numbers);
}

std::string DeviceList::print(const std::vector<int>& value) const {
  if (value.empty()) return "all";
  std::string list;
  for (const int number : value) list += (list.empty() ? "[" : ", ") + std::to_string(number);
  return list + "]";
}

std::filesystem::path normalized_path(const std::filesystem::path& path) {
  const std::filesystem::path normal = path.lexically_normal();
  return normal.has_filename() || normal == normal.root_path() ? normal : normal.parent_path();
}

void AbsolutePath::read(std::string_view text, std::filesystem::path& value) const {
  const bool absolute = text.starts_with('/') && text.find('\0') == std::string_view::npos;
  if (!absolute && !(accepts_empty && text.empty())) throw_invalid(text, expected());
  value = text;
}

void RelativeFolders::read(const std::vector<std::string>& texts,
                           std::vector<std::filesystem::path>& value) const {
  std::vector<std::filesystem::path> folders;
  for (const std::string& text : texts) {
    const std::filesystem::path path = text;
    const bool below =
        path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
    const std::filesystem::path folder = normalized_path(path);
    if (!below || folder.empty() || folder == "." || text.find('\0') != std::string::npos)
      throw_invalid(text, expected());
    folders.push_back(folder);
  }
  value = std::move(folders);
}

std::string RelativeFolders::print(const std::vector<std::filesystem::path>& value) const {
  std::string list;
  for (const std::filesystem::path& folder : value) {
    list += (list.empty() ? "" : ", ") + Text{}.print(folder.native());
  }
  return "[" + list + "]";
}

}  // namespace eckart::settings
