#include "flow/pause.hpp"

#include <condition_variable>
#include <mutex>

namespace eckart::flow {

bool pause(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace eckart::flow
