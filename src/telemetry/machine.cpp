#include "telemetry/machine.hpp"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "core/usable_cores.hpp"
#include "telemetry/throughput.hpp"

namespace eckart::telemetry {
namespace {

/// What follows the first line's colon that begins with `key`; empty if there is none.
std::string value_in(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t:", line.find(':'));
    return begin == std::string::npos ? std::string{} : line.substr(begin);
  }
  return {};
}

// Before main().
const double kStart = unix_now();

double seconds(const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); }

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) facts.host = host.data();
  facts.cpu = value_in("/proc/cpuinfo", "model name");
  facts.cores = usable_cores();
  struct sysinfo memory {};
  if (sysinfo(&memory) == 0)
    facts.memory_bytes = std::int64_t(memory.totalram) * std::int64_t(memory.mem_unit);
  return facts;
}

ProcessUse process_use() {
  ProcessUse use;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    use.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    use.peak_rss_bytes = std::int64_t(usage.ru_maxrss) * 1024;
  }
  std::ifstream pages("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  if (pages >> all >> resident) use.rss_bytes = resident * ::sysconf(_SC_PAGESIZE);
  use.peak_rss_bytes = std::max(use.peak_rss_bytes, use.rss_bytes);  // which was read before
  std::istringstream(value_in("/proc/self/status", "Threads")) >> use.threads;
  return use;
}

double process_start_unix_s() { return kStart; }

}  // namespace eckart::telemetry
