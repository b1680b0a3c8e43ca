// Goes into every program built with ThreadSanitizer that uses a Channel, and into no other.

/// moodycamel 1.0.3 hands a block of slots back to its producers through a counter that is
/// incremented with memory_order_release where it takes acq_rel (its issue 404). The order holds on
/// x86-64 and arm64, whose stores become visible to all at once; by the letter of C++ it is a race,
/// and reported as one between the reader of an old item and the writer of a new one in the same
/// slot.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:moodycamel::ConcurrentQueue*::ImplicitProducer::enqueue\n";
}
