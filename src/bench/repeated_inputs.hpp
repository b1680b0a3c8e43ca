#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace eckart::bench {

/// Returns the absolute paths of all images in folders and files. Throws FatalError if an input
/// cannot be read, or if there are no images.
std::vector<std::filesystem::path> list_images(const std::vector<std::filesystem::path>& inputs);

/// Returns at most `max_files` of the files, evenly spaced, with about `max_bytes` at most.
std::vector<std::filesystem::path> choose_sample(const std::vector<std::filesystem::path>& files,
                                                 std::size_t max_files, std::uintmax_t max_bytes);

/// As many inputs as a measurement needs, made of a few files: each folder 0, 1 ... below `root`
/// has all of them, named by their number.
class RepeatedInputs {
 public:
  /// What the inputs are: symbolic links to the files; or copies of the files in the first folder,
  /// and hard links to these copies in the others, so that the files themselves stay unchanged.
  enum class Kind { links, copies };
  RepeatedInputs(std::filesystem::path root, std::vector<std::filesystem::path> files, Kind kind);

  /// Makes inputs until there are `count`, or until `stop` is requested. Throws
  /// FatalError(io_error) if a file cannot be copied, and std::filesystem::filesystem_error.
  void grow(std::size_t count, const std::stop_token& stop = {});
  /// Removes all but the first `count`.
  void shrink(std::size_t count);
  const std::filesystem::path& root() const { return root_; }
  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }
  /// Replaces the path of an input in a message by the path of its file.
  std::string with_original_path(std::string message) const;

 private:
  void make(const std::filesystem::path& path, std::size_t file) const;

  const std::filesystem::path root_;
  const std::vector<std::filesystem::path> files_;
  const Kind kind_;
  std::vector<std::filesystem::path> paths_;
};

}  // namespace eckart::bench
