#include "io/quarantine_record.hpp"

#include <array>
#include <ctime>
#include <string_view>

#include "text/json.hpp"
#include "text/percent_encoding.hpp"

namespace eckart::io {
namespace {

constexpr std::string_view kScheme = "file://";

/// Returns a URI as RFC 8089 defines it. It preserves all bytes of the name, which a JSON string
/// cannot.
std::string to_uri(const std::filesystem::path& path) {
  return std::string(kScheme) + text::percent_encode_path(path.native());
}

/// Returns nullopt if the text is not a URI of to_uri(). A path has no null byte: a system call
/// would use only the part before it.
std::optional<std::filesystem::path> from_uri(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      path += uri[i];
      continue;
    }
    if (i + 2 >= uri.size()) return std::nullopt;
    const std::size_t high = kDigits.find(uri[i + 1]), low = kDigits.find(uri[i + 2]);
    if (high == std::string::npos || low == std::string::npos) return std::nullopt;
    path += char(high * 16 + low);
    i += 2;
  }
  if (path.find('\0') != std::string::npos) return std::nullopt;
  return path;
}

/// Returns a timestamp such as 2026-11-22T15:12:03Z.
std::string utc_timestamp_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

text::Json or_null(const std::string& text) {
  return text.empty() ? text::Json() : text::Json(text);
}

}  // namespace

std::string to_json(const QuarantineRecord& record, const std::string& version) {
  const text::Json json{{"kind", "quarantine_record"},
                        {"input", record.input.native()},
                        {"uri", to_uri(record.input)},
                        {"root_uri", to_uri(record.root)},
                        {"real_root_uri", to_uri(record.real_root)},
                        {"stage", to_string(record.outcome.stage)},
                        {"reason", to_string(record.outcome.reason)},
                        {"detail", record.outcome.detail},
                        {"input_bytes", record.bytes},
                        {"sha256", or_null(record.sha256)},
                        {"sha256_error", or_null(record.sha256_error)},
                        {"time", utc_timestamp_text(record.time)},
                        {"version", version}};
  return text::dump_json(json, 2) + '\n';
}

std::optional<QuarantinedInput> parse_quarantined_input(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  const auto path_of = [&](const char* key) -> std::optional<std::filesystem::path> {
    if (!parsed.is_object() || !parsed.contains(key) || !parsed[key].is_string())
      return std::nullopt;
    return from_uri(parsed[key].get<std::string>());
  };
  const auto path_or_missing = [&](const char* key) {
    return parsed.contains(key) ? path_of(key) : std::filesystem::path();
  };
  const auto input = path_of("uri");
  if (!input) return std::nullopt;
  const auto root = path_or_missing("root_uri"), real_root = path_or_missing("real_root_uri");
  if (!root || !real_root) return std::nullopt;
  return QuarantinedInput{*input, *root, *real_root};
}

}  // namespace eckart::io
