#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eckart::io {

/// Whether a file of this name is being written by another program: *.tmp, *.part, *.partial,
/// *.crdownload, *~.
bool is_temporary_file_name(std::string_view file_name);

/// Counts the files of folders that are not read because they do not have the name of an image, by
/// extension. Hidden and temporary files do not count. Its memory is limited.
class UnreadFiles {
 public:
  /// Counts the file, unless it is read, hidden or temporary. Returns whether it was counted.
  bool add(std::string_view file_name);
  /// Undoes add().
  void remove(std::string_view file_name);
  void add(const UnreadFiles& others);

  std::int64_t total() const;
  /// The sum, over the extensions, of the files that `earlier` does not have.
  std::int64_t count_new_since(const UnreadFiles& earlier) const;
  /// The 10 most frequent extensions (in lower case, with a dot, or "no extension"), the most
  /// frequent first; then "other".
  std::vector<std::pair<std::string, std::int64_t>> by_extension() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> counts_;  // counts of 0 are removed
};

}  // namespace eckart::io
