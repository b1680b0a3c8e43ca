#include "machine/machine_info.hpp"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "machine/unix_time.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::machine {
namespace {

/// The value in the first line that begins with `key`: the text after its colon. Empty if there is
/// none.
std::string read_field(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", line.find(':'));
    return begin == std::string::npos ? std::string{} : line.substr(begin);
  }
  return {};
}

// Initialized before main().
const double kProcessStart_unix_s = unix_now_s();

double seconds(const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); }

}  // namespace

MachineInfo machine_info() {
  MachineInfo info;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) info.host = host.data();
  info.cpu = read_field("/proc/cpuinfo", "model name");
  info.cores = usable_cores();
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0)
    info.memory_bytes = std::int64_t(memory.totalram) * std::int64_t(memory.mem_unit);
  return info;
}

ProcessUsage process_usage() {
  ProcessUsage usage;
  rusage system_usage{};
  if (getrusage(RUSAGE_SELF, &system_usage) == 0) {
    usage.cpu_s = seconds(system_usage.ru_utime) + seconds(system_usage.ru_stime);
    usage.peak_rss_bytes = std::int64_t(system_usage.ru_maxrss) * 1024;
  }
  std::ifstream pages("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  if (pages >> all >> resident) usage.rss_bytes = resident * ::sysconf(_SC_PAGESIZE);
  usage.peak_rss_bytes = std::max(usage.peak_rss_bytes,
                                  usage.rss_bytes);  // the peak was read before the current value
  std::istringstream(read_field("/proc/self/status", "Threads")) >> usage.threads;
  return usage;
}

double idle_core_s() {
  std::ifstream line("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0;  // in clock ticks
  if (!(line >> name >> user >> nice >> system >> idle >> waiting) || name != "cpu") return 0;
  return (idle + waiting) / double(::sysconf(_SC_CLK_TCK));
}

double process_start_unix_s() { return kProcessStart_unix_s; }

}  // namespace eckart::machine
