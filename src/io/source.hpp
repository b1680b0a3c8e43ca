#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/outcome.hpp"
#include "io/rooted_file.hpp"

namespace eckart::io {

/// One file to do. `relative` is its place under the output folder, in the mirrored tree.
struct SourceItem {
  std::filesystem::path file;
  std::filesystem::path relative;
  Outcome outcome;              ///< failed when the source already knows why this cannot be done
  int job = 0;                  ///< whose it is, where there are several
  bool is_last_attempt = true;  ///< what does not decode now is not half-written
  RootedFile below{};           ///< where it was found by a watch: the only way to it
  FileIdentity seen{};          ///< likewise: as it was when it was looked at
};

/// Where files come from. Used by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  /// The next file; nothing when there is no more, and soon after `stop` is requested.
  virtual std::optional<SourceItem> next(const std::stop_token& stop) = 0;
  /// Whether next() may wait for long for who makes files, or writes a list, rather than for a
  /// disk.
  virtual bool may_block() const { return false; }
  /// What was seen and passed over: hidden, a link to a folder, or not an image by name.
  virtual std::int64_t ignored() const { return 0; }
};

/// Source of one input: a folder, a file (whatever its name), or one failed arrival (not_found,
/// unreadable). Of a folder it gives all images below, folder by folder, each in the order of
/// names; symbolic links to folders are not followed, and a folder that cannot be read comes out as
/// one failed arrival. Lists as it goes: memory does not grow with the tree.
std::unique_ptr<Source> make_source(const std::filesystem::path& input);

/// One path a line of `list` (`-` is stdin), files or folders. Each has the place under the output
/// that its line says, without what would lead out of there: `/a/../b.png` is at `b.png`. Empty
/// lines are passed over; what holds `output`, or lies in it, is one failed arrival. Throws
/// FatalError, and next() does, as LineReader.
std::unique_ptr<Source> make_list_source(const std::filesystem::path& list,
                                         const std::filesystem::path& output);

/// One source after the other.
std::unique_ptr<Source> chain_sources(std::vector<std::unique_ptr<Source>> sources);

}  // namespace eckart::io
