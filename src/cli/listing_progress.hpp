#pragma once

#include <cstdint>

namespace eckart::cli {

/// Shows on stderr how many images are listed, if it is a terminal. The destructor erases it.
class ListingProgress {
 public:
  ListingProgress();
  ~ListingProgress();
  ListingProgress(const ListingProgress&) = delete;
  ListingProgress& operator=(const ListingProgress&) = delete;
  void show(std::int64_t images) const;

 private:
  const bool is_shown_;
};

}  // namespace eckart::cli
