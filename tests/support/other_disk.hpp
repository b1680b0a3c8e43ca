#pragma once

#include <unistd.h>

#include <filesystem>

#include "tests/support/temp_folder.hpp"

namespace eckart::test {

/// Linux's file system in memory: another one than that of temporary folders, as a rule, and the
/// only other one that exists almost everywhere.
inline const std::filesystem::path kOtherDisk = "/dev/shm";

inline bool has_other_disk() { return ::access(kOtherDisk.c_str(), W_OK) == 0; }

/// Where there is no other file system: GTEST_SKIP() << kNoOtherDisk.
inline constexpr const char* kNoOtherDisk = "/dev/shm, which serves as another disk, is missing";

}  // namespace eckart::test
