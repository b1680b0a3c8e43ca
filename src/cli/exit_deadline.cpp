#include "cli/exit_deadline.hpp"

#include <unistd.h>

#include <future>
#include <stop_token>
#include <thread>
#include <utility>

#include "flow/pause.hpp"

namespace eckart::cli {
namespace {

/// A log that hangs, on a disk or a pipe, keeps nobody from ending.
void call_with_timeout(const std::function<void()>& before_exit) {
  constexpr std::chrono::seconds kCallbackTimeout{2};
  std::promise<void> finished;
  const std::future<void> done = finished.get_future();
  std::thread([&, finished = std::move(finished)]() mutable {
    before_exit();
    finished.set_value();
  }).detach();
  done.wait_for(kCallbackTimeout);
}

}  // namespace

ExitDeadline::ExitDeadline(std::chrono::milliseconds time, ExitCode code,
                           std::function<void()> before_exit)
    : thread_(
          "deadline", 1,
          [this, time, code, before_exit = std::move(before_exit)](int) {
            if (!flow::pause(time, canceled_.get_token())) return;
            if (before_exit) call_with_timeout(before_exit);
            ::_exit(int(code));
          },
          [code](const std::exception_ptr&) { ::_exit(int(code)); }) {}

ExitDeadline::~ExitDeadline() { canceled_.request_stop(); }

}  // namespace eckart::cli
