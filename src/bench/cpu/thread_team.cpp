#include "bench/cpu/thread_team.hpp"

#include <algorithm>

namespace eckart::bench {

ThreadTeam::ThreadTeam(int threads) : count_(std::size_t(threads)) {
  for (std::size_t i = 0; i < count_; ++i)
    threads_.emplace_back([this, i](const std::stop_token& stop) { serve(i, stop); });
}

void ThreadTeam::run(std::size_t size, const Work& work, std::size_t unit) {
  std::unique_lock lock(mutex_);
  size_ = size;
  unit_ = unit;
  work_ = &work;
  pending_ = count_;
  ++generation_;
  begins_.notify_all();
  ends_.wait(lock, [this] { return pending_ == 0; });
}

void ThreadTeam::serve(std::size_t index, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (int done = 0; begins_.wait(lock, stop, [&] { return generation_ != done; });
       done = generation_) {
    lock.unlock();
    run_part(index);
    lock.lock();
    if (--pending_ == 0) ends_.notify_one();
  }
}

void ThreadTeam::run_part(std::size_t index) const {
  const std::size_t units = (size_ + unit_ - 1) / unit_,
                    part = (units + count_ - 1) / count_ * unit_;
  const std::size_t begin = std::min(size_, part * index);
  if (begin < size_) (*work_)(begin, std::min(size_, begin + part));
}

}  // namespace eckart::bench
