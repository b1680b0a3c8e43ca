#include "simulation/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/event_queue.hpp"
#include "simulation/fifo_server.hpp"
#include "simulation/random.hpp"
#include "text/group_digits.hpp"

namespace eckart::simulation {
namespace {

/// A node overlaps the steps of up to this many chunks. Two chunks per step keep the slowest step
/// busy.
constexpr int kMaxChunksInFlight = 8;
/// Chunks of a shard, and of a simulation, at most.
constexpr double kMaxShardChunks = 50, kMaxChunks = 4e6;
constexpr double kMaxChunkS = kPublicationIntervalS / 10;
constexpr std::int64_t kMaxFailuresPerShard = 1000;

/// What is done with a chunk, in this order.
enum Step : int { kOpen, kRead, kCompute, kWrite, kCreate, kFinished };

/// A node, with its current attempt to process a shard.
struct Node {
  double slowness = 1;  ///< factor of the time of a shard
  FifoServer cores;     ///< serves images
  std::optional<std::int64_t> shard = {};
  bool is_down = false, is_idle = false;
  double since_s = 0;  ///< when it became down or idle
  std::int64_t attempt = 0;
  double startup_at_s = 0, begin_s = 0;  ///< start of start-up, and of processing
  std::int64_t to_read = 0;              ///< images that no chunk has yet
  int in_flight = 0;                     ///< chunks
  std::int64_t written = 0, recorded = 0;
  double publications = 0;

  /// Records what was written until the last publication of the ledger.
  void publish_ledger(double now) {
    const double until_now = std::floor((now - begin_s) / kPublicationIntervalS);
    if (until_now <= publications) return;
    publications = until_now;
    recorded = written;
  }
};

class Simulation {
 public:
  explicit Simulation(const Scenario& scenario);
  Result run();

 private:
  void handle(const Event& event);
  void request_shard(int node);
  void start_processing(int node);
  void start_chunk(int node);
  void do_steps(int node, std::int64_t images, int step);
  double serve(Node& node, std::int64_t images, int step);
  void finish_chunk(int node, std::int64_t images);
  void fail(int node);
  void repair(int node);
  void return_shard(std::int64_t shard);
  void schedule_failure(int node);
  std::optional<std::int64_t> next_shard();
  Result result();

  const Scenario scenario_;
  const std::int64_t chunk_images_;
  Random random_;
  double now_ = 0;
  EventQueue events_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> unrecorded_;  ///< images by shard
  std::vector<std::int64_t> returned_shards_;
  std::vector<int> idle_nodes_;  ///< and some that are no longer idle
  std::int64_t new_shard_ = 0, unfinished_shards_;
  FifoServer scheduler_, storage_read_, storage_write_, storage_files_;
  double startup_s_ = 0, idle_s_ = 0, down_s_ = 0;  ///< summed over nodes
  std::int64_t written_ = 0, repeated_ = 0, failures_ = 0;
  std::int64_t lost_attempts_ = 0;  ///< to process a shard, because of failures
};

Simulation::Simulation(const Scenario& scenario)
    : scenario_(scenario),
      chunk_images_(chunk_images(scenario)),
      random_(scenario.seed),
      nodes_(std::size_t(scenario.nodes)),
      unrecorded_(std::size_t(scenario.batch.shards()), scenario.batch.shard_images),
      unfinished_shards_(scenario.batch.shards()),
      scheduler_(scenario.dispatched_shards_per_s),
      storage_read_(scenario.storage.read_bytes_per_s),
      storage_write_(scenario.storage.write_bytes_per_s),
      storage_files_(scenario.storage.files_per_s) {
  const Batch& batch = scenario.batch;
  unrecorded_.back() = batch.images - (batch.shards() - 1) * batch.shard_images;
  for (int i = 0; i < scenario.nodes; ++i) {
    const double share = scenario.node.slow_share;
    const bool is_slow = std::floor((i + 1) * share) > std::floor(i * share);
    nodes_[std::size_t(i)].slowness = is_slow ? scenario.node.slow_factor : 1;
  }
}

Result Simulation::run() {
  for (int node = 0; node < scenario_.nodes; ++node) {
    schedule_failure(node);
    request_shard(node);
  }
  while (unfinished_shards_ > 0) handle(events_.take());
  return result();
}

void Simulation::handle(const Event& event) {
  using Kind = Event::Kind;
  const bool is_of_attempt = event.kind == Kind::node_started || event.kind == Kind::chunk_step;
  if (is_of_attempt && event.attempt != nodes_[std::size_t(event.node)].attempt) return;
  now_ = event.time_s;
  switch (event.kind) {
    case Kind::node_started:
      return start_processing(event.node);
    case Kind::chunk_step:
      return do_steps(event.node, event.images, event.next_step);
    case Kind::node_failed:
      return fail(event.node);
    case Kind::node_repaired:
      return repair(event.node);
    case Kind::shard_returned:
      return return_shard(event.shard);
  }
}

std::optional<std::int64_t> Simulation::next_shard() {
  if (!returned_shards_.empty()) {
    const std::int64_t shard = returned_shards_.back();
    returned_shards_.pop_back();
    return shard;
  }
  if (new_shard_ < scenario_.batch.shards()) return new_shard_++;
  return std::nullopt;
}

void Simulation::request_shard(int node) {
  Node& at = nodes_[std::size_t(node)];
  at.shard = next_shard();
  if (!at.shard) {
    at.is_idle = true;
    at.since_s = now_;
    idle_nodes_.push_back(node);
    return;
  }
  at.startup_at_s = scheduler_.serve(now_, 1);
  at.begin_s = at.startup_at_s + scenario_.node.startup_s;
  events_.add({.time_s = at.begin_s,
               .kind = Event::Kind::node_started,
               .node = node,
               .attempt = at.attempt});
}

void Simulation::start_processing(int node) {
  Node& at = nodes_[std::size_t(node)];
  startup_s_ += scenario_.node.startup_s;
  const double time_factor = at.slowness * random_.lognormal(scenario_.node.variation);
  at.cores.set_rate(scenario_.node.images_per_s / time_factor);
  at.to_read = unrecorded_[std::size_t(*at.shard)];
  at.in_flight = 0;
  at.written = at.recorded = 0;
  at.publications = 0;
  for (int i = 0; i < kMaxChunksInFlight; ++i) start_chunk(node);
}

void Simulation::start_chunk(int node) {
  Node& at = nodes_[std::size_t(node)];
  if (at.to_read == 0) return;
  const std::int64_t images = std::min(at.to_read, chunk_images_);
  at.to_read -= images;
  ++at.in_flight;
  do_steps(node, images, kOpen);
}

double Simulation::serve(Node& node, std::int64_t images, int step) {
  const double count = double(images);
  switch (step) {
    case kOpen:
    case kCreate:
      return storage_files_.serve(now_, 0.5 * scenario_.batch.files_per_image() * count);
    case kRead:
      return storage_read_.serve(now_, scenario_.batch.input_bytes * count);
    case kWrite:
      return storage_write_.serve(now_, scenario_.batch.output_bytes * count);
    default:
      return node.cores.serve(now_, count);
  }
}

void Simulation::do_steps(int node, std::int64_t images, int step) {
  Node& at = nodes_[std::size_t(node)];
  for (; step != kFinished; ++step) {
    const double end_s = serve(at, images, step);
    if (end_s == now_) continue;
    return events_.add({.time_s = end_s,
                        .kind = Event::Kind::chunk_step,
                        .node = node,
                        .attempt = at.attempt,
                        .next_step = step + 1,
                        .images = images});
  }
  finish_chunk(node, images);
}

void Simulation::finish_chunk(int node, std::int64_t images) {
  Node& at = nodes_[std::size_t(node)];
  at.publish_ledger(now_);
  at.written += images;
  written_ += images;
  --at.in_flight;
  if (at.to_read > 0) return start_chunk(node);
  if (at.in_flight > 0) return;
  --unfinished_shards_;
  request_shard(node);
}

void Simulation::schedule_failure(int node) {
  if (scenario_.node.mtbf_s == 0) return;
  events_.add({.time_s = now_ + random_.exponential(scenario_.node.mtbf_s),
               .kind = Event::Kind::node_failed,
               .node = node});
}

void Simulation::fail(int node) {
  Node& at = nodes_[std::size_t(node)];
  ++failures_;
  if (at.shard) {
    if (++lost_attempts_ > kMaxFailuresPerShard * scenario_.batch.shards())
      throw std::invalid_argument("nodes fail so often that their shards are not finished");
    if (now_ < at.begin_s) {
      startup_s_ += std::max(0.0, now_ - at.startup_at_s);
    } else {
      at.publish_ledger(now_);
      at.cores.cancel(now_);
      repeated_ += at.written - at.recorded;
      unrecorded_[std::size_t(*at.shard)] -= at.recorded;
    }
    events_.add({.time_s = now_ + scenario_.node.detect_s,
                 .kind = Event::Kind::shard_returned,
                 .shard = *at.shard});
  }
  if (at.is_idle) idle_s_ += now_ - at.since_s;
  ++at.attempt;
  at.shard.reset();
  at.is_idle = false;
  at.is_down = true;
  at.since_s = now_;
  events_.add(
      {.time_s = now_ + scenario_.node.repair_s, .kind = Event::Kind::node_repaired, .node = node});
}

void Simulation::repair(int node) {
  Node& at = nodes_[std::size_t(node)];
  at.is_down = false;
  down_s_ += now_ - at.since_s;
  schedule_failure(node);
  request_shard(node);
}

void Simulation::return_shard(std::int64_t shard) {
  returned_shards_.push_back(shard);
  while (!idle_nodes_.empty()) {
    const int node = idle_nodes_.back();
    idle_nodes_.pop_back();
    Node& at = nodes_[std::size_t(node)];
    if (!at.is_idle) continue;
    at.is_idle = false;
    idle_s_ += now_ - at.since_s;
    return request_shard(node);
  }
}

Result Simulation::result() {
  double compute_s = 0;
  for (const Node& node : nodes_) {
    compute_s += node.cores.busy_s();
    if (node.is_idle) idle_s_ += now_ - node.since_s;
    if (node.is_down) down_s_ += now_ - node.since_s;
  }
  const double images = double(scenario_.batch.images), nodes = double(scenario_.nodes);
  const double merge_s =
      scenario_.merged_images_per_s > 0 ? images / scenario_.merged_images_per_s : 0;
  Result result{.makespan_s = now_ + merge_s,
                .merge_s = merge_s,
                .shards = scenario_.batch.shards(),
                .images_written = written_,
                .images_repeated = repeated_,
                .failures = failures_};
  result.images_per_s = images / result.makespan_s;
  result.efficiency = result.images_per_s / (nodes * scenario_.node.images_per_s);
  const auto share = [&](double seconds, double servers = 1) {
    return std::min(1.0, seconds / (servers * result.makespan_s));
  };
  result.shares[Limit::nodes] = share(compute_s, nodes);
  result.shares[Limit::startup] = share(startup_s_, nodes);
  result.shares[Limit::last_shards] = share(idle_s_, nodes);
  result.shares[Limit::failures] = share(down_s_, nodes);
  result.shares[Limit::dispatch] = share(scheduler_.busy_s());
  result.shares[Limit::storage_read] = share(storage_read_.busy_s());
  result.shares[Limit::storage_write] = share(storage_write_.busy_s());
  result.shares[Limit::storage_files] = share(storage_files_.busy_s());
  result.shares[Limit::merge] = share(merge_s);
  return result;
}

}  // namespace

Limit TimeShares::largest() const {
  return Limit(std::ranges::max_element(shares_) - shares_.begin());
}

Limit TimeShares::largest_before_merge() const {
  TimeShares others = *this;
  others[Limit::merge] = 0;
  return others.largest();
}

std::int64_t chunk_images(const Scenario& scenario) {
  const Batch& batch = scenario.batch;
  const double of_shard = double(batch.shard_images) / kMaxShardChunks;
  const double of_time = scenario.node.images_per_s * kMaxChunkS;
  const double images = std::max(std::min(of_shard, of_time), double(batch.images) / kMaxChunks);
  return std::clamp(std::int64_t(std::ceil(images)), std::int64_t(1), batch.shard_images);
}

Result simulate(const Scenario& scenario) {
  if (scenario.batch.shards() > kMaxShards)
    throw std::invalid_argument(
        text::group_digits(scenario.batch.shards()) +
        " shards are too many; accepted: " + text::group_digits(kMaxShards));
  return Simulation(scenario).run();
}

}  // namespace eckart::simulation
