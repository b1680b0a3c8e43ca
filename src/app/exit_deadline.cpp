#include "app/exit_deadline.hpp"

#include <unistd.h>

#include <future>
#include <thread>
#include <utility>

#include "flow/pause.hpp"

namespace eckart::app {
namespace {

/// A log on a disk or pipe that does not respond must not prevent the exit.
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

void exit_process_now(ExitCode code) { ::_exit(int(code)); }

ExitDeadline::ExitDeadline(std::chrono::milliseconds time, ExitCode code,
                           std::function<void()> before_exit, ExitProcess exit_process)
    : thread_(
          "deadline", 1,
          [this, time, code, before_exit = std::move(before_exit), exit_process](int) {
            if (!flow::pause(time, canceled_.get_token())) return;
            if (before_exit) call_with_timeout(before_exit);
            exit_process(code);
          },
          [this, code, exit_process,
           constructor = std::this_thread::get_id()](std::exception_ptr error) {
            if (std::this_thread::get_id() != constructor) return exit_process(code);
            start_error_ = std::move(error);
          }) {
  if (start_error_) std::rethrow_exception(start_error_);
}

ExitDeadline::~ExitDeadline() { canceled_.request_stop(); }

}  // namespace eckart::app
