#include "app/mount_guard.hpp"

#include <sys/stat.h>

#include <utility>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// Calls `visit` with the device of the folder, as far as it exists, and of all its parents, until
/// it returns true. Returns whether it did.
template <class Visit>
bool any_device(fs::path folder, const Visit& visit) {
  for (;; folder = folder.parent_path()) {
    struct stat status {};
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) == 0 && visit(status.st_dev))
      return true;
    if (folder == folder.parent_path()) return false;
  }
}

dev_t nearest_device(const fs::path& folder) {
  dev_t nearest = 0;
  any_device(folder, [&](dev_t device) {
    nearest = device;
    return true;
  });
  return nearest;
}

}  // namespace

MountGuard::MountGuard(fs::path folder)
    : folder_(std::move(folder)), first_device_(nearest_device(folder_)) {}

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
  if (mounted_device_) return nearest_device(folder_) == *mounted_device_;
  return any_device(folder_, [&](dev_t device) { return device == first_device_; });
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
