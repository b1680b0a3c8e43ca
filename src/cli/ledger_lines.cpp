#include "cli/ledger_lines.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/outcome.hpp"
#include "text/hex.hpp"
#include "text/json.hpp"
#include "text/json_bytes.hpp"

namespace eckart::cli {
namespace {

constexpr int kExportVersion = 1;

std::string bytes_of(const std::string& hex) {
  std::optional<std::string> bytes = text::from_hex(hex);
  if (!bytes) throw LineError("'" + hex + "' is not hexadecimal");
  return *std::move(bytes);
}

std::string text_or_hex(const text::Json& json, const char* key) {
  try {
    return text::bytes_from_json(json.at(key));
  } catch (const std::invalid_argument& error) {
    throw LineError(error.what());
  }
}

std::string hash_text(std::uint64_t hash) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || at != text.data() + text.size() || text.size() != 16)
    throw LineError("settings: '" + text + "' is not 16 hexadecimal digits");
  return hash;
}

void add_state(text::Json& line, const files::FileState& state) {
  line["input_bytes"] = state.size;
  line["input_mtime_ns"] = state.mtime_ns;
  line["input_inode"] = state.inode;
}

/// Throws LineError if the value is not an integer of the type.
template <class Integer = std::int64_t>
Integer integer(const text::Json& json, const char* key) {
  const text::Json& value = json.at(key);
  if (!value.is_number_integer()) throw LineError(std::string(key) + " is not an integer");
  const bool is_in_range = value.is_number_unsigned()
                               ? std::in_range<Integer>(value.get<std::uint64_t>())
                               : std::in_range<Integer>(value.get<std::int64_t>());
  if (!is_in_range) throw LineError(std::string(key) + ": " + value.dump() + " is out of range");
  return value.get<Integer>();
}

/// Older exports have `input_size`.
files::FileState state_of(const text::Json& json) {
  return {integer(json, json.contains("input_size") ? "input_size" : "input_bytes"),
          integer(json, "input_mtime_ns"), integer(json, "input_inode")};
}

/// Returns a path that is always below the output folder. Throws LineError.
std::string output_of(const text::Json& json) {
  const std::filesystem::path path = text_or_hex(json, "output");
  bool is_below = path.is_relative() && path.has_filename() &&
                  path.native() == path.lexically_normal().native();
  for (const auto& part : path) is_below = is_below && part != ".." && part != ".";
  if (!is_below || path.native().find('\0') != std::string::npos)
    throw LineError("output: '" + path.string() + "' is not a path below the output folder");
  return path.native();
}

std::string absolute(const std::string& path, const char* key) {
  if (path.starts_with('/') && path.find('\0') == std::string::npos) return path;
  throw LineError(std::string(key) + ": '" + path + "' is not an absolute path");
}

ledger::OutputEntry entry_of(const text::Json& json) {
  const std::string root = absolute(text_or_hex(json, "root"), "root");
  if (!root.ends_with('/')) throw LineError("root: '" + root + "' does not end with a slash");
  ledger::OutputEntry entry{.output = output_of(json),
                            .input = absolute(root + text_or_hex(json, "input"), "input"),
                            .settings = hash_of(json.at("settings_hash").get<std::string>()),
                            .output_index = integer<int>(json, "output_index"),
                            .state = state_of(json),
                            .bytes = integer(json, "output_bytes"),
                            .root_length = root.size(),
                            .output_mtime_ns = integer(json, "output_mtime_ns")};
  if (entry.bytes < 0) throw LineError("output_bytes: must not be negative");
  if (entry.output_index < 0) throw LineError("output_index: must not be negative");
  if (json.contains("sha256")) entry.content_hash = bytes_of(json.at("sha256").get<std::string>());
  if (!entry.content_hash.empty() && entry.content_hash.size() != 32)
    throw LineError("sha256: must have 64 hexadecimal digits");
  if (json.contains("report")) entry.report = text_or_hex(json, "report");
  return entry;
}

/// Older exports have `failed_input`.
ledger::FailureEntry failure_of(const text::Json& json) {
  const char* const input = json.contains("failed_input") ? "failed_input" : "input";
  const auto text = json.at("reason").get<std::string>();
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    if (to_string(FailureReason(reason)) == text)
      return {absolute(text_or_hex(json, input), input), state_of(json), FailureReason(reason),
              text_or_hex(json, "detail")};
  }
  throw LineError("reason: '" + text + "' is not a known reason");
}

/// Calls `work` and converts exceptions of the JSON library to LineError.
template <class Work>
auto with_line_errors(const Work& work) {
  try {
    return work();
  } catch (const text::Json::parse_error& error) {
    throw LineError("invalid JSON from byte " + std::to_string(error.byte) + " on");
  } catch (const text::Json::exception& error) {
    const std::string_view text = error.what();  // format: [json.exception.KIND.NUMBER] message
    const std::size_t end = text.find("] ");
    throw LineError(std::string(end == text.npos ? text : text.substr(end + 2)));
  }
}

}  // namespace

std::string header_line() {
  return text::dump_json(
      {{"kind", "ledger"}, {"eckart_ledger", kExportVersion}, {"version", ECKART_VERSION}});
}

std::string settings_line(const std::string& text) {
  return text::dump_json(
      {{"kind", "ledger_settings"}, {"settings_text", text::bytes_to_json(text)}});
}

std::string output_line(const ledger::OutputEntry& entry) {
  text::Json line{{"kind", "ledger_output"}};
  line["output"] = text::bytes_to_json(entry.output);
  line["root"] = text::bytes_to_json(entry.input.substr(0, entry.root_length));
  line["input"] = text::bytes_to_json(entry.input.substr(entry.root_length));
  line["settings_hash"] = hash_text(entry.settings);
  line["output_index"] = entry.output_index;
  add_state(line, entry.state);
  line["output_bytes"] = entry.bytes;
  line["output_mtime_ns"] = entry.output_mtime_ns;
  if (!entry.content_hash.empty()) line["sha256"] = text::to_hex(entry.content_hash);
  if (!entry.report.empty()) line["report"] = text::bytes_to_json(entry.report);
  return text::dump_json(line);
}

std::string failure_line(const ledger::FailureEntry& failure) {
  text::Json line{{"kind", "ledger_failure"}};
  line["input"] = text::bytes_to_json(failure.input);
  add_state(line, failure.state);
  line["reason"] = std::string(to_string(failure.reason));
  line["detail"] = text::bytes_to_json(failure.detail);
  return text::dump_json(line);
}

void check_header(const std::string& line) {
  const std::int64_t version = with_line_errors([&] {
    const text::Json json = text::Json::parse(line);
    if (!json.is_object() || !json.contains("eckart_ledger"))
      throw LineError("not a ledger export of eckart");
    return integer(json, "eckart_ledger");
  });
  if (version != kExportVersion)
    throw LineError("has version " + std::to_string(version) + "; this program reads version " +
                    std::to_string(kExportVersion));
}

LedgerLine parse_line(const std::string& line) {
  return with_line_errors([&]() -> LedgerLine {
    const text::Json json = text::Json::parse(line);
    if (!json.is_object()) throw LineError("is not a JSON object");
    if (json.contains("settings_text")) return SettingsText{text_or_hex(json, "settings_text")};
    if (json.contains("output")) return entry_of(json);
    if (json.contains("reason")) return failure_of(json);
    throw LineError("has neither output nor reason nor settings_text");
  });
}

}  // namespace eckart::cli
