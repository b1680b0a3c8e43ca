#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace eckart::bench {

/// How fast one part of a run handles files, with nothing else at work: the walls of a pipeline.
/// All functions throw std::system_error, EnvironmentError, ItemError or FatalError if a call
/// fails.
struct FileRate {
  std::int64_t files = 0;
  double wall_s = 0;
  double cpu_s = 0;  ///< user and system CPU time of the process
  double files_per_s() const { return wall_s > 0 ? double(files) / wall_s : 0; }
  double cpu_us_per_file() const { return files > 0 ? 1e6 * cpu_s / double(files) : 0; }
};

/// Files to write, or rows to record, and the threads that share them.
struct FileLoad {
  std::vector<std::size_t> sizes;  ///< bytes of the files, used in turn
  std::int64_t files = 0;
  int threads = 1;
  int group = 32;        ///< files that a thread publishes, or rows that it records, together
  bool durable = false;  ///< whether they survive a power cut
};

/// What the file system allows: files are created, written and renamed to their names in one
/// folder, which must exist and be empty, by plain system calls. Leaves the files.
FileRate measure_plain_writing(const std::filesystem::path& folder, const FileLoad& load);
/// The same as a run does it, with io::Publication.
FileRate measure_publishing(const std::filesystem::path& folder, const FileLoad& load);
/// Opens and reads the files of a folder that one of the functions above has filled with this load.
FileRate measure_reading(const std::filesystem::path& folder, const FileLoad& load);
/// Lists the images of a folder as the source of a run does, on one thread.
FileRate measure_source(const std::filesystem::path& folder);
/// Records publish intents and results in a new ledger `file`, with names in order or in random
/// order, and reports of `load.sizes` bytes.
FileRate measure_ledger(const std::filesystem::path& file, const FileLoad& load, bool random_order);

}  // namespace eckart::bench
