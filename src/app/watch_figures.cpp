#include "app/watch_figures.hpp"

#include <sys/statvfs.h>

namespace eckart::app {

void WatchFigures::count(ItemResult result) {
  switch (result) {
    case ItemResult::done:
      ++done_;
      return;
    case ItemResult::skipped:
      ++skipped_;
      return;
    case ItemResult::failed:
      ++failed_;
      return;
    case ItemResult::incomplete:
    case ItemResult::deferred:
      return;
  }
}

void WatchFigures::update_free_bytes(const std::filesystem::path& folder) {
  struct statvfs disk {};
  free_bytes_ = ::statvfs(folder.c_str(), &disk) == 0
                    ? std::int64_t(disk.f_bavail) * std::int64_t(disk.f_frsize)
                    : -1;
}

}  // namespace eckart::app
