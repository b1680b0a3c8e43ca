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
void say(const std::function<void()>& last_words) {
  constexpr std::chrono::seconds kMoment{2};
  std::promise<void> said;
  const std::future<void> done = said.get_future();
  std::thread([&, said = std::move(said)]() mutable {
    last_words();
    said.set_value();
  }).detach();
  done.wait_for(kMoment);
}

}  // namespace

ExitDeadline::ExitDeadline(std::chrono::milliseconds time, ExitCode code,
                           std::function<void()> last_words)
    : thread_(
          "deadline", 1,
          [this, time, code, last_words = std::move(last_words)](int) {
            if (!flow::pause(time, called_off_.get_token())) return;
            if (last_words) say(last_words);
            ::_exit(int(code));
          },
          [code](const std::exception_ptr&) { ::_exit(int(code)); }) {}

ExitDeadline::~ExitDeadline() { called_off_.request_stop(); }

}  // namespace eckart::cli
