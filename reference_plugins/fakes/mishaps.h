// What can befall a process. None of these needs to know which op it happens in.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_MISHAPS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_MISHAPS_H_

namespace fakes {

// These do not come back.
void Crash();
void Hang();
void HangWhenForked();
void HangWhenFilled();
void HangWhenEnding();
void UseWhatIsGone();
void Exit();
void Abort();
void Throw();
void EndThread();
void ForkAndReturn();
void CloseWire();
// These two do not close them, but put another file in their place, or write to them.
void ReplaceWire();
void WriteToWire();
// These leave the process without what it needs: descriptors that wait, room for memory.
void NeverWait();
void UseUpMemory();

// These leave something behind.
void LeakMemory();
void LeakBytes();
void RecordCall();
void LeakDescriptor();
void LeakThread();
void LeakMapping();
void FillCache();
void ChangeDirectory();
void ChangeSignals();
void BlockSignals();
void ChangeUmask();
void ChangeLocale();
void ChangeEnvironment();
void ChangeRounding();
void LeaveChild();
void LeaveDaemon();
void AbortAtExit();
void CloseStreams();
void PrintOut();
void PrintError();

// These are for sanitizers to find.
void UseFreed();
void OverflowHeap();
void FreeTwice();
void BranchOnGarbage();
void ReadBehind();
void FreeOtherwise();
void WriteGarbage();
void CopyOverlapping();
void Race();

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_MISHAPS_H_
