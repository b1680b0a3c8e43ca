#include "bench/steady_pass.hpp"

#include <chrono>

namespace eckart::bench {

void SteadyPass::observe(Instant now, std::size_t done, bool has_waiting_batches) {
  if (begin_.done == 0 && done >= first_batch_) begin_ = {now, done};
  if (has_waiting_batches) end_ = {now, done};
}

double SteadyPass::seconds(double whole_s) const {
  const std::size_t done = end_.done > begin_.done ? end_.done - begin_.done : 0;
  if (begin_.done == 0 || 2 * done < items_) return whole_s;
  const std::chrono::duration<double> time = end_.time - begin_.time;
  return time.count() * double(items_) / double(done);
}

}  // namespace eckart::bench
