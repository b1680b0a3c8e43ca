#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"

namespace eckart::io {

/// One input of a manifest.
struct ManifestEntry {
  std::string input;  ///< absolute path; a std::filesystem::path would take several times as much
  std::string relative;    ///< path below the output folder, as SourceItem::relative
  std::int64_t bytes = 0;  ///< size of the file when the manifest was made
};

/// A part of a manifest: consecutive lines of the file.
struct Shard {
  std::int64_t images = 0;
  std::int64_t image_bytes = 0;  ///< of the input files
  std::int64_t offset = 0;       ///< of its first line, from the end of the header
  std::int64_t length = 0;       ///< of its lines
};

/// A list of inputs, split into shards, so that each can be processed by another machine. In the
/// file, the first line is this as a JSON object. Each further line is an entry.
struct Manifest {
  std::string id;                             ///< 16 hexadecimal digits, the same for equal entries
  std::vector<std::filesystem::path> inputs;  ///< absolute; the folders and files that were listed
  std::vector<Shard> shards;
  std::int64_t header_bytes = 0;  ///< of the first line, with its newline

  std::int64_t images() const;
};

/// How many shards a manifest gets.
struct ShardPlan {
  std::int64_t count = 0;  ///< 0: as many as `max_images` needs
  /// In a shard, unless inputs that must stay together are more; 0: any number.
  std::int64_t max_images = 0;
  /// If `max_images` needs more shards, they have more images; 0: any number of shards.
  std::int64_t max_count = 0;
};

/// Splits the entries into consecutive shards of about the same number of bytes. Inputs whose
/// outputs may have the same name stay together: those of one folder that differ in their extension
/// only. Otherwise the entries stay in their order. Returns the end of each shard, as an index.
/// Throws std::invalid_argument if there are fewer such groups than shards.
std::vector<std::size_t> split_into_shards(std::vector<ManifestEntry>& entries,
                                           const ShardPlan& plan);

/// Writes a manifest; replaces an older one. `ends` are those of split_into_shards(). Throws
/// FatalError: cannot_create if something else than a manifest is at `file`, or as
/// publish_file() fails. Throws EnvironmentError.
Manifest write_manifest(const std::filesystem::path& file,
                        std::vector<std::filesystem::path> inputs,
                        std::span<const ManifestEntry> entries, std::span<const std::size_t> ends);

/// Reads the first line. Throws FatalError: no_input if the file cannot be read, nothing_readable
/// if it is not a manifest of this version, or is not complete.
Manifest read_manifest(const std::filesystem::path& file);

/// Names a shard as FILE:I/N, with I from 1 to N.
struct ShardName {
  std::filesystem::path manifest;
  std::int64_t index = 0, count = 0;
};
/// Throws std::invalid_argument if the text has another form.
ShardName parse_shard_name(std::string_view text);

/// Returns a source for the inputs of one shard, in their order. `index` is from 0. Throws
/// FatalError(nothing_readable) with the number of the line if the lines are not those of the
/// header.
std::unique_ptr<Source> make_shard_source(const std::filesystem::path& file,
                                          const Manifest& manifest, std::size_t index);

}  // namespace eckart::io
