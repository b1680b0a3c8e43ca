#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "io/watch/watch.hpp"

namespace eckart::io {

class Bell;
class FolderWatcher;

/// Gives files as they arrive in watched folders, however they come there, and all that are there
/// already. It has no end. Each watch has a thread, so that a share that hangs holds up no other.
class WatchSource : public Source {
 public:
  using Tell = io::Tell;
  using Wants = io::Wants;
  struct Watch {
    WatchOptions options;
    Wants wants;
  };

  /// Arrival::job is a watch's place in `watches`.
  WatchSource(std::vector<Watch> watches, const Tell& tell);
  /// As end().
  ~WatchSource() override;

  /// Ends the threads; one that a dead share's system call holds is waited for. From one thread,
  /// any number of times; what else there is may be called meanwhile and afterwards.
  void end();

  /// Waits until a file is ready; nothing only after `stop`. Watches that have one take turns. A
  /// file is not given again before it is finished. Throws what ended a watch: what Wants threw, or
  /// std::bad_alloc.
  std::optional<Arrival> next(const std::stop_token& stop) override;

  bool may_wait() const override { return true; }

  /// What became of an arrival; to be called once for each that next() has given, from any thread.
  /// `relative` is the arrival's, `why` a reason for people, of Ending::environment.
  void finished(int watch, const std::filesystem::path& relative, Ending ending,
                const std::string& why);
  /// A full scan as soon as possible; from any thread.
  void rescan(int watch);
  /// By watch; from any thread.
  std::vector<WatchState> states() const;

 private:
  const std::unique_ptr<Bell> bell_;
  std::vector<std::unique_ptr<FolderWatcher>> watchers_;
  std::size_t turn_ = 0;  // the watch that is asked first; of the thread that calls next()
};

}  // namespace eckart::io
