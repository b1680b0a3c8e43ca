#include "machine/machine_info.hpp"

#include <gtest/gtest.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "machine/control_group.hpp"
#include "machine/unix_time.hpp"
#include "machine/usable_cores.hpp"

namespace eckart::machine {
namespace {

TEST(UtcTimestamp, has_milliseconds_and_is_in_utc) {
  const std::pair<double, const char*> cases[] = {{0, "1970-01-01T00:00:00.000Z"},
                                                  {-0.5, "1969-12-31T23:59:59.500Z"},
                                                  {1798718400.25, "2026-12-31T12:00:00.250Z"},
                                                  {1798761599.0625, "2026-12-31T23:59:59.062Z"},
                                                  {1709164800, "2024-02-29T00:00:00.000Z"}};
  for (const char* zone : {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3"}) {
    ::setenv("TZ", zone, 1);
    ::tzset();
    for (const auto& [unix_s, text] : cases) EXPECT_EQ(utc_timestamp(unix_s), text);
  }
}

TEST(UnixTime, is_that_of_the_system_and_begins_with_the_process) {
  const auto before = double(std::time(nullptr));
  const double now = unix_now_s();
  EXPECT_GE(now, before - 1);
  EXPECT_LE(now, double(std::time(nullptr)) + 1);
  EXPECT_LE(process_start_unix_s(), now);
  EXPECT_GT(process_start_unix_s(), now - 3600);
}

TEST(MachineInfo, has_what_the_system_tells) {
  const MachineInfo info = machine_info();
  std::array<char, 256> host{};
  ASSERT_EQ(::gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(info.host, host.data());
  EXPECT_EQ(info.cores, usable_cores());
  struct sysinfo memory {};
  ASSERT_EQ(::sysinfo(&memory), 0);
  EXPECT_EQ(info.memory_bytes, std::int64_t(memory.totalram) * memory.mem_unit);
  std::ifstream lines("/proc/cpuinfo");
  std::string cpu;
  for (std::string line; cpu.empty() && std::getline(lines, line);)
    if (line.starts_with("model name\t: ")) cpu = line.substr(13);
  EXPECT_EQ(info.cpu, cpu);
}

double idle_ticks() {
  std::ifstream line("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0;
  line >> name >> user >> nice >> system >> idle >> waiting;
  return idle + waiting;
}

TEST(IdleCoreTime, is_that_of_all_cores_idle_or_waiting_for_a_disk) {
  const auto ticks_per_s = double(::sysconf(_SC_CLK_TCK));
  const double before = idle_ticks(), idle_s = idle_core_s(), after = idle_ticks();
  EXPECT_GE(idle_s * ticks_per_s, before - 0.5);
  EXPECT_LE(idle_s * ticks_per_s, after + 0.5);
}

TEST(ProcessUsage, counts_the_threads_and_the_memory_of_now) {
  std::thread([] {}).join();  // a sanitizer may start a thread of its own with the first
  const int threads_before = process_usage().threads;
  std::promise<void> begun, end;
  std::thread thread([&] {
    begun.set_value();
    end.get_future().wait();
  });
  begun.get_future().wait();
  const ProcessUsage usage = process_usage();
  EXPECT_EQ(usage.threads, threads_before + 1);
  EXPECT_GE(usage.peak_rss_bytes, usage.rss_bytes);
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  EXPECT_NEAR(double(usage.rss_bytes), double(resident) * double(::sysconf(_SC_PAGESIZE)), 8e6);
  EXPECT_LT(usage.peak_rss_bytes, std::int64_t(100) << 30);
  end.set_value();
  thread.join();
}

TEST(ThrottleReason, has_the_documented_name) {
  std::string names;
  for (int reason = 0; reason < kThrottleReasonCount; ++reason)
    names.append(to_string(ThrottleReason(reason))) += ' ';
  EXPECT_EQ(names, "power thermal hardware sync other ");
}

TEST(ControlGroup, has_the_folders_from_the_mount_point_down) {
  EXPECT_EQ(control_group_folders("/cg", "a.slice/b.service"),
            (std::vector<std::filesystem::path>{"/cg", "/cg/a.slice", "/cg/a.slice/b.service"}));
  EXPECT_EQ(control_group_folders("/cg", ""), std::vector<std::filesystem::path>{"/cg"});
}

}  // namespace
}  // namespace eckart::machine
