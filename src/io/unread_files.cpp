#include "io/unread_files.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "codec/codec.hpp"
#include "text/ascii.hpp"
#include "text/printable.hpp"

namespace eckart::io {
namespace {

constexpr std::size_t kMaxListedExtensions = 10;
constexpr std::size_t kMaxExtensions = 100;  // that are counted separately
constexpr std::size_t kMaxExtensionBytes = 16;
constexpr std::string_view kNoExtension = "no extension", kOther = "other";

bool is_unread(std::string_view name) {
  return !name.starts_with('.') && !is_temporary_file_name(name) &&
         !codec::is_image_file_name(name);
}

std::string extension_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot + 1 == name.size()) return std::string(kNoExtension);
  const std::string extension(name.substr(dot));
  if (extension.size() > kMaxExtensionBytes) return std::string(kOther);
  return text::printable(text::to_lower_ascii(extension));
}

}  // namespace

bool is_temporary_file_name(std::string_view file_name) {
  constexpr auto kSuffixes =
      std::to_array<std::string_view>({".tmp", ".part", ".partial", ".crdownload", "~"});
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return file_name.ends_with(suffix); });
}

bool UnreadFiles::add(std::string_view file_name) {
  if (!is_unread(file_name)) return false;
  const std::string extension = extension_of(file_name);
  const bool is_counted_separately = counts_.contains(extension) || counts_.size() < kMaxExtensions;
  ++counts_[is_counted_separately ? extension : std::string(kOther)];
  return true;
}

void UnreadFiles::remove(std::string_view file_name) {
  if (!is_unread(file_name)) return;
  auto found = counts_.find(extension_of(file_name));
  if (found == counts_.end()) found = counts_.find(kOther);
  if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

void UnreadFiles::add(const UnreadFiles& others) {
  for (const auto& [extension, count] : others.counts_) counts_[extension] += count;
}

std::int64_t UnreadFiles::total() const {
  std::int64_t total = 0;
  for (const auto& [extension, count] : counts_) total += count;
  return total;
}

std::int64_t UnreadFiles::count_new_since(const UnreadFiles& earlier) const {
  std::int64_t count_new = 0;
  for (const auto& [extension, count] : counts_) {
    const auto before = earlier.counts_.find(extension);
    count_new +=
        std::max<std::int64_t>(0, count - (before == earlier.counts_.end() ? 0 : before->second));
  }
  return count_new;
}

std::vector<std::pair<std::string, std::int64_t>> UnreadFiles::by_extension() const {
  std::vector<std::pair<std::string, std::int64_t>> list;
  std::int64_t other = 0;
  for (const auto& [extension, count] : counts_) {
    if (extension == kOther) {
      other += count;
    } else {
      list.emplace_back(extension, count);
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (; list.size() > kMaxListedExtensions; list.pop_back()) other += list.back().second;
  if (other > 0) list.emplace_back(kOther, other);
  return list;
}

}  // namespace eckart::io
