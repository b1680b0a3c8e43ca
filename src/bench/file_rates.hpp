#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <vector>

#include "bench/rate.hpp"

namespace eckart::bench {

// How fast one part of a run handles files, with nothing else at work: the walls of a pipeline. All
// functions throw std::system_error, EnvironmentError, ItemError or FatalError if a call fails.
// After a stop request they return early, with a rate that means nothing.

/// Files to write, or rows to record, and the threads that share them.
struct FileLoad {
  std::vector<std::size_t> sizes;  ///< bytes of the files, used in turn
  std::int64_t files = 0;
  std::int64_t files_per_folder = 0;  ///< in folders named 0, 1 ...; 0: all files in one folder
  int threads = 1;
  int group = 32;        ///< files that a thread publishes, or rows that it records, together
  bool durable = false;  ///< whether they survive a power cut
  std::stop_token stop{};
};

/// What the file system allows: files are created, written and renamed to their names by plain
/// system calls. The folder must exist and be empty. Leaves the files.
Rate measure_plain_writing(const std::filesystem::path& folder, const FileLoad& load);
/// The same as a run does it, with io::Publication.
Rate measure_publishing(const std::filesystem::path& folder, const FileLoad& load);
/// Opens and reads files.
Rate measure_reading(std::span<const std::filesystem::path> files, int threads,
                     const std::stop_token& stop = {});
/// Reads files on `read_threads` threads, while others write as measure_plain_writing() does. The
/// time is that of the slower of the two; the count is that of the files that are read.
Rate measure_reading_and_writing(std::span<const std::filesystem::path> files, int read_threads,
                                 const std::filesystem::path& folder, const FileLoad& load);
/// Lists the images of a folder as the source of a run does, on one thread.
Rate measure_listing(const std::filesystem::path& folder, const std::stop_token& stop = {});
/// Records publish intents and results in a new ledger `file`, with names in order or in random
/// order, and reports as those of a run.
Rate measure_ledger(const std::filesystem::path& file, const FileLoad& load, bool random_order);

}  // namespace eckart::bench
