#include "io/manifest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "files/file_descriptor.hpp"
#include "hash/name_hash.hpp"
#include "io/publication.hpp"
#include "text/ascii.hpp"
#include "text/json_bytes.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr int kManifestVersion = 1;
constexpr std::size_t kMaxHeaderBytes = std::size_t(64) << 20;
constexpr std::int64_t kMinBytes = 4096;  // an image costs more than its bytes

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw FatalError(ExitCode::nothing_readable, text::printable(file.native()) + ": " + why);
}

/// Calls `read`, and names the file in errors of the JSON library.
template <class Read>
auto with_file_errors(const fs::path& file, const std::string& where, const Read& read) {
  try {
    return read();
  } catch (const text::Json::exception& error) {
    refuse(file, where + " is not one of a manifest: " + error.what());
  } catch (const std::invalid_argument& error) {
    refuse(file, where + ": " + error.what());
  }
}

/// The part of a path that outputs of different inputs may share.
std::string group_of(const ManifestEntry& entry) {
  return text::to_lower_ascii(fs::path(entry.relative).replace_extension().native());
}

std::string line_of(const ManifestEntry& entry) {
  text::Json json{{"input", text::bytes_to_json(entry.input)}};
  json["relative"] = text::bytes_to_json(entry.relative);
  json["bytes"] = entry.bytes;
  return json.dump() + '\n';
}

ManifestEntry entry_of(const std::string& line) {
  const text::Json json = text::Json::parse(line);
  ManifestEntry entry{.input = text::bytes_from_json(json.at("input")),
                      .relative = text::bytes_from_json(json.at("relative")),
                      .bytes = json.at("bytes").get<std::int64_t>()};
  const auto has_null = [](const std::string& path) { return path.find('\0') != path.npos; };
  if (!entry.input.starts_with('/') || has_null(entry.input))
    throw std::invalid_argument("input: not an absolute path");
  const fs::path relative = entry.relative;
  const bool has_other_parts = std::ranges::any_of(  // an empty one is after a slash at the end
      relative, [](const fs::path& part) { return part.empty() || part == "." || part == ".."; });
  if (relative.empty() || relative.is_absolute() || has_other_parts || has_null(entry.relative))
    throw std::invalid_argument("relative: not a path below a folder");
  return entry;
}

std::string header_of(const Manifest& manifest) {
  text::Json json{{"eckart_manifest", kManifestVersion}};
  json["id"] = manifest.id;
  json["inputs"] = text::Json::array();
  for (const fs::path& input : manifest.inputs)
    json["inputs"].push_back(text::bytes_to_json(input.native()));
  json["shards"] = text::Json::array();
  for (const Shard& shard : manifest.shards)
    json["shards"].push_back({{"images", shard.images},
                              {"image_bytes", shard.image_bytes},
                              {"offset", shard.offset},
                              {"length", shard.length}});
  return json.dump() + '\n';
}

Manifest manifest_of(const fs::path& file, const std::string& line) {
  Manifest manifest;
  const text::Json json = text::Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("eckart_manifest"))
    refuse(file, "not a manifest of eckart shard");
  if (const auto version = json.at("eckart_manifest").get<std::int64_t>();
      version != kManifestVersion)
    refuse(file, "has version " + std::to_string(version) + "; this program reads version " +
                     std::to_string(kManifestVersion));
  manifest.id = json.at("id").get<std::string>();
  if (manifest.id.size() != 16 ||
      manifest.id.find_first_not_of("0123456789abcdef") != std::string::npos)
    refuse(file, "id is not 16 hexadecimal digits");
  for (const text::Json& input : json.at("inputs"))
    manifest.inputs.emplace_back(text::bytes_from_json(input));
  std::int64_t offset = 0;
  for (const text::Json& shard : json.at("shards")) {
    manifest.shards.push_back({.images = shard.at("images").get<std::int64_t>(),
                               .image_bytes = shard.at("image_bytes").get<std::int64_t>(),
                               .offset = shard.at("offset").get<std::int64_t>(),
                               .length = shard.at("length").get<std::int64_t>()});
    const Shard& read = manifest.shards.back();
    if (read.images < 1 || read.length < 1 || read.offset != offset)
      refuse(file, "shard " + std::to_string(manifest.shards.size()) + " is damaged");
    offset += read.length;
  }
  manifest.header_bytes = std::int64_t(line.size() + 1);
  return manifest;
}

files::FileDescriptor open_manifest(const fs::path& file) {
  files::FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor)
    throw FatalError(ExitCode::no_input, "cannot read the manifest " +
                                             text::printable(file.native()) + ": " +
                                             std::generic_category().message(errno));
  return descriptor;
}

/// Reads at most `bytes` from `offset` on.
std::string read_at(const files::FileDescriptor& descriptor, const fs::path& file,
                    std::int64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t size = 0;
  while (size < bytes) {
    const ssize_t count =
        ::pread(descriptor.get(), text.data() + size, bytes - size, off_t(offset) + off_t(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw FatalError(ExitCode::no_input, "cannot read the manifest " +
                                               text::printable(file.native()) + ": " +
                                               std::generic_category().message(errno));
    if (count == 0) break;
    size += std::size_t(count);
  }
  text.resize(size);
  return text;
}

/// Yields the entries of a shard.
class ShardSource : public Source {
 public:
  ShardSource(const fs::path& file, const Manifest& manifest, std::size_t index)
      : file_(file), images_(manifest.shards.at(index).images) {
    const Shard& shard = manifest.shards[index];
    for (std::size_t i = 0; i < index; ++i) line_number_ += manifest.shards[i].images;
    text_ = read_at(open_manifest(file), file, manifest.header_bytes + shard.offset,
                    std::size_t(shard.length));
    if (text_.size() != std::size_t(shard.length) || text_.back() != '\n' ||
        std::ranges::count(text_, '\n') != images_)
      refuse(file, "shard " + std::to_string(index + 1) + " is damaged or incomplete");
  }

  std::optional<SourceItem> next(const std::stop_token& stop) override {
    if (stop.stop_requested() || begin_ == text_.size()) return std::nullopt;
    const std::size_t end = text_.find('\n', begin_);
    const std::string line = text_.substr(begin_, end - begin_);
    begin_ = end + 1;
    ++line_number_;
    ManifestEntry entry = with_file_errors(file_, "line " + std::to_string(line_number_ + 1),
                                           [&] { return entry_of(line); });
    return SourceItem{std::move(entry.input), std::move(entry.relative), {}};
  }

  std::vector<SourceItem> next_group(const std::stop_token& stop, std::size_t max) override {
    return next_up_to(stop, max);
  }

 private:
  const fs::path file_;
  const std::int64_t images_;
  std::int64_t line_number_ = 0;  // of the entry before
  std::string text_;
  std::size_t begin_ = 0;  // of the next line in text_
};

/// Puts entries with the same key beside each other, at the place of the first of them. Returns the
/// end of each group of them, as an index.
std::vector<std::size_t> order_by_group(std::vector<ManifestEntry>& entries) {
  std::vector<std::string> keys(entries.size());
  std::ranges::transform(entries, keys.begin(), group_of);
  std::unordered_map<std::string_view, std::size_t> first;  // index of a key
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  for (const std::size_t i : order) first.emplace(keys[i], i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return first.at(keys[i]); });

  std::vector<ManifestEntry> sorted;
  sorted.reserve(entries.size());
  std::vector<std::size_t> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && keys[order[i]] != keys[order[i - 1]]) groups.push_back(i);
    sorted.push_back(std::move(entries[order[i]]));
  }
  if (!sorted.empty()) groups.push_back(sorted.size());
  entries = std::move(sorted);
  return groups;
}

/// Returns the ends of shards of about the same number of bytes, that are ends of groups too.
std::vector<std::size_t> shard_ends(std::span<const ManifestEntry> entries,
                                    std::span<const std::size_t> groups, std::int64_t count,
                                    std::int64_t max_images) {
  const auto bytes_of = [](const ManifestEntry& entry) { return std::max(entry.bytes, kMinBytes); };
  std::int64_t left_bytes = 0;
  for (const ManifestEntry& entry : entries) left_bytes += bytes_of(entry);
  std::int64_t left = count;
  std::vector<std::size_t> ends;
  std::int64_t shard_bytes = 0;
  std::size_t begin = 0, shard_begin = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::int64_t group_bytes = 0;
    for (; begin < groups[i]; ++begin) group_bytes += bytes_of(entries[begin]);
    shard_bytes += group_bytes;
    const bool is_last = i + 1 == groups.size();
    const bool exceeds_images =
        max_images > 0 && !is_last && std::int64_t(groups[i + 1] - shard_begin) > max_images;
    // The next group starts a new shard if this one is closer to its part without that group, or
    // if each group left is needed for a shard.
    const std::int64_t groups_left = std::int64_t(groups.size() - i) - 1;
    const bool is_full = shard_bytes + group_bytes / 2 >= (left_bytes + left / 2) / left;
    if (exceeds_images || (left > 1 && (is_full || groups_left == left - 1))) {
      ends.push_back(groups[i]);
      left_bytes -= shard_bytes;
      shard_bytes = 0;
      shard_begin = groups[i];
      left = std::max<std::int64_t>(left - 1, 1);
    }
  }
  if (!entries.empty()) ends.push_back(entries.size());
  return ends;
}

}  // namespace

std::int64_t Manifest::images() const {
  return std::accumulate(shards.begin(), shards.end(), std::int64_t(0),
                         [](std::int64_t sum, const Shard& shard) { return sum + shard.images; });
}

std::vector<std::size_t> split_into_shards(std::vector<ManifestEntry>& entries,
                                           const ShardPlan& plan) {
  const std::vector<std::size_t> groups = order_by_group(entries);
  const auto images = std::int64_t(entries.size());
  std::int64_t count = plan.count;
  if (count == 0) {
    const std::int64_t max_images = std::max<std::int64_t>(plan.max_images, 1);
    count = std::min((images + max_images - 1) / max_images, std::int64_t(groups.size()));
  }
  if (count > std::int64_t(groups.size()))
    throw std::invalid_argument(std::to_string(count) + " shards of " + std::to_string(images) +
                                " images: each needs at least one");
  std::vector<std::size_t> ends = shard_ends(entries, groups, count, plan.max_images);
  if (plan.max_count > 0 && std::int64_t(ends.size()) > plan.max_count)
    ends = shard_ends(entries, groups, plan.max_count, 0);
  return ends;
}

Manifest write_manifest(const fs::path& file, std::vector<fs::path> inputs,
                        std::span<const ManifestEntry> entries, std::span<const std::size_t> ends) {
  if (files::entry_exists(file)) {
    try {
      read_manifest(file);
    } catch (const FatalError& error) {
      throw FatalError(ExitCode::cannot_create,
                       std::string("not replaced, because it is no manifest: ") + error.what());
    }
  }
  Manifest manifest;
  manifest.inputs = std::move(inputs);
  std::string lines;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    Shard shard{.images = std::int64_t(end - begin), .offset = std::int64_t(lines.size())};
    for (; begin < end; ++begin) {
      lines += line_of(entries[begin]);
      shard.image_bytes += entries[begin].bytes;
    }
    shard.length = std::int64_t(lines.size()) - shard.offset;
    manifest.shards.push_back(shard);
  }
  manifest.id = hash::name_digest(std::to_string(ends.size()) + '\n' + lines);
  const std::string header = header_of(manifest);
  manifest.header_bytes = std::int64_t(header.size());
  lines.insert(0, header);
  try {
    publish_file(file, std::as_bytes(std::span(lines)));
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::cannot_create, text::printable(file.native()) + ": " + error.what());
  }
  return manifest;
}

Manifest read_manifest(const fs::path& file) {
  const files::FileDescriptor descriptor = open_manifest(file);
  std::string text;
  std::size_t end = std::string::npos;
  for (std::size_t bytes = 1 << 16; end == std::string::npos; bytes *= 4) {
    text = read_at(descriptor, file, 0, std::min(bytes, kMaxHeaderBytes));
    end = text.find('\n');
    if (end == std::string::npos && (text.size() < bytes || bytes > kMaxHeaderBytes))
      refuse(file, "not a manifest of eckart shard");
  }
  Manifest manifest =
      with_file_errors(file, "line 1", [&] { return manifest_of(file, text.substr(0, end)); });
  std::int64_t size = manifest.header_bytes;
  for (const Shard& shard : manifest.shards) size += shard.length;
  if (const off_t actual = ::lseek(descriptor.get(), 0, SEEK_END); actual != off_t(size))
    refuse(file, "has " + std::to_string(actual) + " bytes instead of " + std::to_string(size));
  return manifest;
}

ShardName parse_shard_name(std::string_view text) {
  const std::size_t colon = text.rfind(':'), slash = text.rfind('/');
  const auto number = [&](std::size_t begin, std::size_t end) -> std::int64_t {
    const std::string_view digits = text.substr(begin, end - begin);
    std::int64_t value = 0;
    const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && at == digits.data() + digits.size() ? value : 0;
  };
  ShardName name;
  if (colon != text.npos && colon > 0 && slash != text.npos && slash > colon) {
    name.manifest = text.substr(0, colon);
    name.index = number(colon + 1, slash);
    name.count = number(slash + 1, text.size());
  }
  if (name.index < 1 || name.count < name.index)
    throw std::invalid_argument(
        "'" + std::string(text) +
        "' is not MANIFEST:I/N, such as scans.manifest:3/8, with I from 1 to N");
  return name;
}

std::unique_ptr<Source> make_shard_source(const fs::path& file, const Manifest& manifest,
                                          std::size_t index) {
  return std::make_unique<ShardSource>(file, manifest, index);
}

}  // namespace eckart::io
