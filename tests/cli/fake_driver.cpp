// Replaces libcuda.so.1, so that the program looks for its CUDA module.
extern "C" void eckart_fake_driver() {}
