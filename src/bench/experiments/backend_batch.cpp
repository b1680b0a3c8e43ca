#include "bench/experiments/backend_batch.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>

#include "bench/operation/engine_shares.hpp"
#include "core/instant.hpp"
#include "core/quality.hpp"
#include "synth/synth.hpp"

namespace eckart::bench {
namespace {

double seconds_of(Instant time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace

std::string ImageBatch::size_text() const { return fmt::format("{} × {}, k = {}", n, n, k); }

std::string ImageBatch::text() const { return fmt::format("{} of {}", images, size_text()); }

std::vector<Image> batch_images(const ImageBatch& batch) {
  std::vector<Image> images;
  images.reserve(std::size_t(batch.images));  // scenes must not move
  for (int i = 0; i < batch.images; ++i) {
    if (i < kScenes) {
      images.push_back(synth::synthesize({.kind = synth::SynthKind::texture,
                                          .rows = batch.n,
                                          .cols = batch.n,
                                          .seed = std::uint64_t(i)}));
    } else {
      const Image& scene = images[std::size_t(i % kScenes)];
      std::memcpy(images.emplace_back(scene.shape()).data(), scene.data(), scene.bytes());
    }
  }
  return images;
}

double squared_error(const Image& image, const std::uint8_t* pixels) {
  const auto* own = reinterpret_cast<const std::uint8_t*>(image.data());
  double sum = 0;
  for (std::size_t i = 0; i < image.bytes(); ++i)
    sum += double((own[i] - pixels[i]) * (own[i] - pixels[i]));
  return sum;
}

BackendBatch::BackendBatch(compute::Backend& backend, const ImageBatch& batch, int max_slots)
    : backend_(backend),
      max_slots_(max_slots),
      team_(backend.lanes()),
      lanes_(std::size_t(backend.lanes())) {
  for (Image& image : batch_images(batch)) {
    compute::Task& task = tasks_.emplace_back();
    task.outputs.emplace_back(image.shape());
    task.input = std::move(image);
    task.ranks = {RankPolicy{batch.k}};
    task.results.emplace_back(1);
  }
  key_ = {{batch.n, batch.n}, {RankPolicy{batch.k}}};
  part_ = std::size_t(std::clamp(backend.batch_planes(key_), 1, batch.images));
}

BackendBatch::~BackendBatch() {
  on_each_lane([this](std::size_t lane) { lanes_[lane].reset(); });
}

BatchTimes BackendBatch::run() {
  if (calls_++ == 1) use_all_slots();
  next_ = 0;
  const auto begin = std::chrono::steady_clock::now();
  on_each_lane([this](std::size_t lane) { compute_parts(lane); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (const compute::Task& task : tasks_) {
    if (!task.error.empty()) throw std::runtime_error(task.error);
  }
  BatchTimes times{.total_s = seconds.count()};
  std::array<std::vector<Interval>, compute::kDeviceSpanKindCount> spans;
  for (const auto& lane : lanes_) {
    for (const compute::DeviceSpan& span : lane->take_spans())
      spans.at(std::size_t(span.kind)).emplace_back(seconds_of(span.begin), seconds_of(span.end));
  }
  const std::vector<Interval>& computing = spans[compute::DeviceSpan::compute];
  times.compute_s = computing.empty() ? times.total_s : covered_by(1, computing);
  times.engines = engine_shares(spans[compute::DeviceSpan::copy_in], computing,
                                spans[compute::DeviceSpan::copy_out]);
  return times;
}

std::vector<double> BackendBatch::squared_errors() const {
  std::vector<double> errors;
  for (const compute::Task& task : tasks_)
    errors.push_back(squared_error(
        task.input, reinterpret_cast<const std::uint8_t*>(task.outputs.front().data())));
  return errors;
}

SolverKind BackendBatch::solver() const {
  return tasks_.front().results.front().front().solver.value_or(SolverKind::automatic);
}

void BackendBatch::on_each_lane(const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(lanes_.size());
  team_.run(
      lanes_.size(),
      [&](std::size_t lane, std::size_t) {
        try {
          work(lane);
        } catch (...) {
          errors[lane] = std::current_exception();
        }
      },
      1);
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// One after the other, because they write the same images.
void BackendBatch::use_all_slots() {
  std::mutex mutex;
  on_each_lane([&](std::size_t lane) {
    const std::lock_guard lock(mutex);
    for (int slot = 0; slot < slots(lane); ++slot) {
      start(lane, slot, 0);
      lanes_[lane]->finish(slot);
    }
    static_cast<void>(lanes_[lane]->take_spans());
  });
}

int BackendBatch::slots(std::size_t lane) {
  if (!lanes_[lane]) lanes_[lane] = backend_.make_lane(int(lane));
  return std::min(max_slots_, lanes_[lane]->slots());
}

/// Takes parts of the batch until there are no more, and keeps all slots of the lane busy.
void BackendBatch::compute_parts(std::size_t lane) {
  const int slots = this->slots(lane);
  int started = 0, finished = 0;
  for (std::size_t part = next_++; part * part_ < tasks_.size(); part = next_++) {
    if (started - finished == slots) lanes_[lane]->finish(finished++ % slots);
    start(lane, started++ % slots, part);
  }
  while (finished < started) lanes_[lane]->finish(finished++ % slots);
}

void BackendBatch::start(std::size_t lane, int slot, std::size_t part) {
  std::vector<compute::Task*> tasks;
  for (std::size_t i = part * part_; i < std::min(tasks_.size(), (part + 1) * part_); ++i)
    tasks.push_back(&tasks_[i]);
  lanes_[lane]->start(slot, key_, tasks);
}

std::vector<double> scene_errors(compute::Backend& backend, const ImageBatch& batch) {
  BackendBatch scenes(backend,
                      {.images = std::min(batch.images, kScenes), .n = batch.n, .k = batch.k});
  scenes.run();
  return scenes.squared_errors();
}

double largest_loss_db(const std::vector<double>& errors, const std::vector<double>& scene_errors) {
  double largest = 0;
  for (std::size_t i = 0; i < errors.size(); ++i)
    largest = std::max(largest, loss_db(errors[i], scene_errors[i % scene_errors.size()]));
  return largest;
}

}  // namespace eckart::bench
