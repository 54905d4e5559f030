// Last words of a process that a signal ends.
#ifndef TFFS_HOST_CRASH_H_
#define TFFS_HOST_CRASH_H_

namespace tffs {

// What this thread is about, for the line that a crash prints; a text that stays.
inline thread_local const char* running_op = "";

// Fatal signals write a backtrace to standard error before they end the process as they would have.
void ReportCrashes();

}  // namespace tffs

#endif  // TFFS_HOST_CRASH_H_
