#include "io/list_images.hpp"

#include <string>
#include <system_error>

#include "io/archive_source.hpp"
#include "io/open_archive.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Adds a file or, if it is an archive, the images in it; otherwise like add_images_below().
bool add_file(const fs::path& file, std::vector<fs::path>& images, std::size_t& max) {
  if (!is_archive_path(file)) {
    images.push_back(file);
    return true;
  }
  const std::unique_ptr<Source> archive = make_archive_source(file, {});
  while (std::optional<SourceItem> item = archive->next({})) {
    if (max == 0) return false;
    --max;
    images.push_back(std::move(item->file));
  }
  return true;
}

/// Adds the images below a folder. Returns whether all of its entries, of which there may be `max`,
/// could be listed. Takes those entries off `max`.
bool add_images_below(const fs::path& folder, std::vector<fs::path>& images, std::size_t& max) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (max == 0) return false;
    --max;
    const std::string name = entry->path().filename().native();
    if (entry->is_directory(error)) {  // also a link, which is not followed
      if (name.starts_with('.')) entry.disable_recursion_pending();
    } else if (is_input_file_name(name) && !add_file(entry->path(), images, max)) {
      return false;
    }
    error.clear();  // of an entry that has disappeared
  }
  return !error;
}

}  // namespace

std::optional<std::vector<fs::path>> list_images(std::span<const fs::path> inputs,
                                                 std::size_t max) {
  std::vector<fs::path> images;
  for (const fs::path& input : inputs) {
    std::error_code none;
    if (fs::is_directory(input, none)) {
      if (!add_images_below(input, images, max)) return std::nullopt;
    } else {
      if (max == 0) return std::nullopt;
      --max;
      if (!add_file(input, images, max)) return std::nullopt;
    }
  }
  return images;
}

}  // namespace eckart::io
