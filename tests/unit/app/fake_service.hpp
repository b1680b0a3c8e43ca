#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/service_manager.hpp"
#include "app/supervised_service.hpp"

namespace eckart::app {

inline const pipeline::Activity::Stall kLoadStall{.stage = "load",
                                                  .age = std::chrono::seconds(200)};

/// The events so far, in order. Thread-safe.
class EventLog {
 public:
  void add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }
  /// Waits until the event has occurred `times` times; returns false after 30 s.
  bool wait_for(const std::string& event, std::ptrdiff_t times = 1) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return std::count(events_.begin(), events_.end(), event) >= times;
    });
  }
  std::ptrdiff_t count(const std::string& event) const {
    const std::lock_guard lock(mutex_);
    return std::count(events_.begin(), events_.end(), event);
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

/// Records the events "manager: ready" and so on.
class FakeServiceManager : public ServiceManager {
 public:
  explicit FakeServiceManager(EventLog& events) : events_(events) {}
  void notify_ready() override { events_.add("manager: ready"); }
  void notify_reloading() override { events_.add("manager: reloading"); }
  void notify_stopping() override { events_.add("manager: stopping"); }
  void notify_watchdog() override { events_.add("manager: watchdog"); }
  void notify_status(const std::string& line) override { events_.add("manager: status " + line); }
  std::chrono::milliseconds watchdog_interval() const override {
    return std::chrono::milliseconds(1);
  }

 private:
  EventLog& events_;
};

/// Records the events "NAME: executes", "NAME: ended" and so on.
class FakeService : public SupervisedService {
 public:
  /// The body of execute(), provided by the test.
  using Execute = std::function<void(FakeService& service, const std::function<void()>& ready)>;

  FakeService(std::string name, EventLog& events, Execute execute)
      : name_(std::move(name)), events_(events), execute_(std::move(execute)) {
    add_event("made");
  }
  ~FakeService() override { add_event("destroyed"); }
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  static void run_until_stop(FakeService& service, const std::function<void()>& ready) {
    ready();
    service.wait_for_stop();
  }

  telemetry::RunReport execute(const std::function<void()>& ready) override {
    add_event("executes");
    execute_(*this, ready);
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return report_;
  }
  void request_stop() override {
    const std::lock_guard lock(mutex_);
    add_event("is stopped");
    stop_requested_ = true;
    changed_.notify_all();
  }
  void stop_with_error(std::exception_ptr error) override {
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
    }
    request_stop();
  }
  std::string inputs_text() const override { return "1 watch"; }
  std::string status_line() const override { return name_ + " is well"; }
  std::string status_text() const override { return "status of " + name_; }
  std::string describe_activity() const override { return "activity of " + name_; }
  double last_done_unix_s() const override { return last_done_unix_s_; }
  std::optional<pipeline::Activity::Stall> find_stall() override {
    add_event("find_stall");
    const std::lock_guard lock(mutex_);
    return stall_;
  }
  void record_stall(const pipeline::Activity::Stall& stall) override {
    add_event("records stall of " + std::string(stall.stage));
  }
  pipeline::Activity& activity() override { return activity_; }
  compute::Backend* backend() const override {
    add_event("asked for its backend");
    return backend_;
  }
  void record_heartbeat() override { add_event("heartbeat"); }
  void maintain_folders(const std::stop_token&) override {
    add_event("maintenance");
    if (fails_maintenance_) throw FatalError(ExitCode::io_error, "no more");
  }

  // Called by tests:
  void wait_for_stop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_requested_; });
  }
  std::exception_ptr error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  void set_stall(const std::optional<pipeline::Activity::Stall>& stall) {
    const std::lock_guard lock(mutex_);
    stall_ = stall;
  }
  telemetry::RunReport report_;
  double last_done_unix_s_ = 0;
  std::atomic<compute::Backend*> backend_ = nullptr;
  std::atomic<bool> fails_maintenance_ = false;

 private:
  void add_event(const std::string& event) const { events_.add(name_ + ": " + event); }

  const std::string name_;
  EventLog& events_;
  const Execute execute_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_requested_ = false;
  std::exception_ptr error_;
  std::optional<pipeline::Activity::Stall> stall_;
  pipeline::Activity activity_;
};

}  // namespace eckart::app
