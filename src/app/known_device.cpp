#include "app/known_device.hpp"

#include <sys/stat.h>

#include "core/error.hpp"
#include "core/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

}  // namespace

void KnownDevice::remember() {
  struct stat status {};
  if (::stat(folder_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  const std::lock_guard lock(mutex_);
  if (!device_) device_ = status.st_dev;
}

bool KnownDevice::is_known() const {
  const std::lock_guard lock(mutex_);
  return device_.has_value();
}

void KnownDevice::check() const {
  const std::lock_guard lock(mutex_);
  if (!device_) return;
  fs::path there = folder_;
  struct stat status {};
  while (::stat(there.c_str(), &status) != 0 && there != there.parent_path())
    there = there.parent_path();
  if (status.st_dev == *device_) return;
  throw EnvironmentError("the file system of " + printable(folder_.native()) +
                         " is another than before: it is waited for; a reload goes on there");
}

void KnownDevice::check_is_there() const {
  check();
  struct stat status {};
  if (!is_known() || (::stat(folder_.c_str(), &status) == 0 && S_ISDIR(status.st_mode))) return;
  throw EnvironmentError("the folder " + printable(folder_.native()) +
                         " is gone: it is waited for; a reload makes it again");
}

}  // namespace eckart::app
