#include "ledger/creation_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "core/instant.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

}  // namespace

CreationLock::CreationLock(const fs::path& file, std::chrono::milliseconds timeout)
    : folder_(::open((file.has_parent_path() ? file.parent_path() : fs::path(".")).c_str(),
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto end = Clock::now() + timeout;
  while (!(is_held_ = ::flock(folder_, LOCK_EX | LOCK_NB) == 0) && errno == EWOULDBLOCK &&
         Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

CreationLock::~CreationLock() {
  if (folder_ >= 0) ::close(folder_);
}

}  // namespace eckart::ledger
