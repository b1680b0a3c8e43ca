#include "app/mount_guard.hpp"

#include <sys/stat.h>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

}  // namespace

void MountGuard::record_device() {
  struct stat status {};
  if (::stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  const std::lock_guard lock(mutex_);
  if (!mounted_device_) mounted_device_ = status.st_dev;
}

bool MountGuard::has_device() const {
  const std::lock_guard lock(mutex_);
  return mounted_device_.has_value();
}

bool MountGuard::is_mounted() const {
  const std::lock_guard lock(mutex_);
  if (!mounted_device_) return true;
  fs::path existing = folder_;
  struct stat status {};
  while (::stat(existing.c_str(), &status) != 0 && existing != existing.parent_path())
    existing = existing.parent_path();
  return status.st_dev == *mounted_device_;
}

void MountGuard::check() const {
  if (is_mounted()) return;
  throw EnvironmentError(
      "the file system of " + text::printable(folder_.native()) +
          " has changed; waiting for the previous one. Reload to use the new one",
      EnvironmentError::Remedy::mount);
}

void MountGuard::check_exists() const {
  check();
  struct stat status {};
  if (!has_device() || (::stat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))) return;
  throw EnvironmentError("the folder " + text::printable(folder_.native()) +
                         " is missing; waiting for it. Reload to create it again");
}

}  // namespace eckart::app
