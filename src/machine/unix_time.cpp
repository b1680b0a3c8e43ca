#include "machine/unix_time.hpp"

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cmath>
#include <ctime>

namespace eckart::machine {

std::string utc_timestamp(double unix_s) {
  const double whole_s = std::floor(unix_s);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::time_t(whole_s)),
                     int((unix_s - whole_s) * 1000));
}

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace eckart::machine
