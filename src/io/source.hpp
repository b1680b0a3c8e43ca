#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/outcome.hpp"

namespace eckart::io {

/// One file to do. `relative` is its place under the output folder, in the mirrored tree.
struct Arrival {
  std::filesystem::path file;
  std::filesystem::path relative;
  Outcome outcome;  ///< failed when the source already knows why this cannot be done
};

/// Where files come from. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// The next file; nothing when there is no more.
  virtual std::optional<Arrival> next() = 0;
  /// Files seen and passed over, since their names are not those of images.
  virtual std::int64_t ignored() const { return 0; }
};

/// All images below a folder, folder by folder, each in the order of names; symbolic links to
/// folders are not followed. A folder that cannot be read comes out as one failed arrival. Lists as
/// it goes: memory does not grow with the tree.
std::unique_ptr<Source> make_folder_source(const std::filesystem::path& folder);

/// One file, whatever its name.
std::unique_ptr<Source> make_file_source(const std::filesystem::path& file);

/// One path a line, files or folders; `in` must outlive the source. Empty lines are passed over. A
/// null byte is a FatalError(usage): it is not a list of lines.
std::unique_ptr<Source> make_list_source(std::istream& in);

/// Source of one input of the command line: a folder, a file, or one failed arrival (not_found,
/// unreadable).
std::unique_ptr<Source> make_source(const std::filesystem::path& input);

/// One source after the other.
std::unique_ptr<Source> chain(std::vector<std::unique_ptr<Source>> sources);

}  // namespace eckart::io
