#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace eckart::app {

/// What pack() is to do.
struct PackRequest {
  std::filesystem::path folder;
  std::filesystem::path archive;  ///< the archive, or what the names of several begin with
  std::int64_t max_files = 0;     ///< of an archive; 0: any number
  std::int64_t max_bytes = 0;     ///< of the files of an archive; 0: any number
  bool overwrite = false;         ///< archives that exist with other content
};

struct PackedArchive {
  std::filesystem::path path;
  std::int64_t files = 0, bytes = 0;  ///< of the files in it
  bool has_index = false;             ///< for NVIDIA DALI; not if a name has white space
};

struct PackResult {
  std::vector<PackedArchive> archives;
  std::int64_t left_out = 0;  ///< hidden entries, links, FIFOs, devices
  /// Archives that exist with higher numbers. They do not belong to this folder as it is now.
  std::vector<std::filesystem::path> others;
  struct Failure {
    std::filesystem::path file;
    std::string why;
  };
  std::vector<Failure> failed;  ///< files that could not be read
};

/// Packs all files below a folder into tar archives, in order of their paths, so that the files of
/// a sample are beside each other and in one archive; see tar::sample_key(). Archives of several
/// have numbers from 1 on: a.tar becomes a-000001.tar. `on_packed` is called now and then with the
/// number of files so far. If `stop` is requested, the archive at hand is left out. Throws
/// FatalError, EnvironmentError.
PackResult pack(const PackRequest& request,
                const std::function<void(std::int64_t files)>& on_packed,
                const std::stop_token& stop);

/// What unpack() is to do.
struct UnpackRequest {
  std::vector<std::filesystem::path> archives;
  std::filesystem::path folder;
};

struct UnpackResult {
  std::int64_t files = 0, bytes = 0;  ///< that are in the folder now
  std::vector<PackResult::Failure> failed;
};

/// Writes the files in the archives below a folder, durably. A file that exists is kept if it has
/// the same bytes; otherwise it is not replaced, and the member has failed. Members that lead out
/// of the folder, links, devices and the like fail, each alone. Throws FatalError,
/// EnvironmentError.
UnpackResult unpack(const UnpackRequest& request,
                    const std::function<void(std::int64_t files)>& on_unpacked,
                    const std::stop_token& stop);

}  // namespace eckart::app
