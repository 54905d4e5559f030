// Standard output, which belongs to the program that loaded a plugin: what is printed there is
// counted, and goes on to standard error.
#ifndef TFFS_HOST_STANDARD_OUTPUT_H_
#define TFFS_HOST_STANDARD_OUTPUT_H_

#include <cstdint>

namespace tffs {

// Takes standard output away; `lowest` is the lowest number that the host's own end may get. Gives
// that end, negative where it cannot be had.
int TakeStandardOutput(int lowest);

// Hands on what was printed so far. May be called where a signal is handled.
void HandOnOutput();

// The bytes that were printed, those in the buffer of the C library included.
int64_t PrintedBytes();

}  // namespace tffs

#endif  // TFFS_HOST_STANDARD_OUTPUT_H_
