#include "broker/work_message.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

#include "files/state_folder.hpp"
#include "text/group_digits.hpp"
#include "text/json.hpp"
#include "text/json_bytes.hpp"

namespace eckart::broker {
namespace {

constexpr int kVersion = 1;

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

bool has_null(const std::string& path) { return path.find('\0') != path.npos; }

/// A path whose parts are names, so that it stays below any folder, and outside of its state
/// folder.
bool is_below_a_folder(const std::string& path) {
  const std::filesystem::path parts = path;
  if (parts.empty() || parts.is_absolute() || has_null(path)) return false;
  return std::ranges::none_of(  // an empty part is after a slash at the end
      parts, [](const auto& part) {
        return part.empty() || part == "." || part == ".." || part == files::kStateFolder;
      });
}

const text::Json& member(const text::Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse(std::string(key) + " is missing");
  return *found;
}

std::int64_t integer(const text::Json& object, const char* key) {
  const text::Json& value = member(object, key);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > std::uint64_t(std::numeric_limits<std::int64_t>::max())))
    refuse(std::string(key) + " is not an integer of 64 bits");
  return value.get<std::int64_t>();
}

text::Json image_to_json(const WorkImage& image) {
  return {{"path", text::bytes_to_json(image.path)},
          {"relative", text::bytes_to_json(image.relative)},
          {"size", image.state.size},
          {"mtime_ns", image.state.mtime_ns},
          {"inode", image.state.inode}};
}

WorkImage image_from_json(const text::Json& json) {
  if (!json.is_object()) refuse("not an object");
  WorkImage image{.path = text::bytes_from_json(member(json, "path")),
                  .relative = text::bytes_from_json(member(json, "relative")),
                  .state = {.size = integer(json, "size"),
                            .mtime_ns = integer(json, "mtime_ns"),
                            .inode = integer(json, "inode")}};
  if (!image.path.starts_with('/') || has_null(image.path)) refuse("path is not an absolute path");
  if (!is_below_a_folder(image.relative)) refuse("relative is not a path below a folder");
  if (image.state.size < 0) refuse("size is negative");
  return image;
}

/// Deep nesting takes seconds and much memory.
bool is_shallow(int depth, text::Json::parse_event_t, text::Json&) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth) refuse("the message is nested too deeply");
  return true;
}

text::Json object_of(std::string_view body) {
  if (body.size() > kMaxWorkBytes)
    refuse("the message has " + text::group_digits(std::int64_t(body.size())) + " bytes; at most " +
           text::group_digits(std::int64_t(kMaxWorkBytes)) + " are read");
  text::Json json = text::Json::parse(body, is_shallow, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("eckart_work")) refuse("not a message of eckart enqueue");
  if (const std::int64_t version = integer(json, "eckart_work"); version != kVersion)
    refuse("the message has version " + std::to_string(version) + "; this program reads version " +
           std::to_string(kVersion));
  return json;
}

std::vector<WorkImage> images_of(const text::Json& json) {
  if (!json.is_array() || json.empty()) refuse("images is not a list with images");
  if (json.size() > kMaxWorkImages)
    refuse("the message has " + text::group_digits(std::int64_t(json.size())) +
           " images; at most " + text::group_digits(std::int64_t(kMaxWorkImages)) + " are read");
  std::vector<WorkImage> images;
  images.reserve(json.size());
  for (const text::Json& image : json) {
    try {
      images.push_back(image_from_json(image));
    } catch (const std::exception& error) {
      refuse("image " + std::to_string(images.size() + 1) + ": " + error.what());
    }
  }
  return images;
}

}  // namespace

std::string to_json(const WorkMessage& message) {
  text::Json json{{"eckart_work", kVersion}};
  json["settings"] = message.settings_hash;
  json["images"] = text::Json::array();
  for (const WorkImage& image : message.images) json["images"].push_back(image_to_json(image));
  return json.dump();
}

WorkMessage parse_work_message(std::string_view body) {
  const text::Json json = object_of(body);
  const text::Json& hash = member(json, "settings");
  if (!hash.is_string()) refuse("settings is not a string");
  return {.settings_hash = hash.get<std::string>(), .images = images_of(member(json, "images"))};
}

std::vector<WorkMessage> split_into_messages(std::vector<WorkImage> images,
                                             const std::string& settings_hash,
                                             std::size_t max_images) {
  const std::size_t limit = std::clamp<std::size_t>(max_images, 1, kMaxWorkImages);
  const std::size_t overhead = to_json({.settings_hash = settings_hash, .images = {}}).size();
  std::vector<WorkMessage> messages;
  std::size_t bytes = 0;  // of the last message
  for (WorkImage& image : images) {
    const std::size_t image_bytes = image_to_json(image).dump().size() + 1;
    if (messages.empty() || messages.back().images.size() == limit ||
        bytes + image_bytes > kMaxWorkBytes) {
      messages.push_back({.settings_hash = settings_hash, .images = {}});
      bytes = overhead;
    }
    bytes += image_bytes;
    messages.back().images.push_back(std::move(image));
  }
  return messages;
}

}  // namespace eckart::broker
