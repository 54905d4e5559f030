// What a fake is made of: the posix plugin, and one fault that has a name.
//
// To add a fault: write one function in the file of its theme, and one row in the table at that
// file's end.

#ifndef TFFS_REFERENCE_PLUGINS_FAKES_FAULTS_H_
#define TFFS_REFERENCE_PLUGINS_FAKES_FAULTS_H_

#include <functional>
#include <string>
#include <vector>

#include "calls.h"
#include "posix/tables.h"

namespace fakes {

// `Subject` is what the fault is worked into: the tables, or the whole registration.
template <typename Subject>
struct FaultIn {
  std::string name;
  std::string what;    // what the plugin does
  std::string breaks;  // what it ought to do
  std::function<void(Subject&)> apply;
};

using Fault = FaultIn<support::Tables>;

// One table of faults a theme.
std::vector<Fault> KindFaults();  // "<kind>:<op>", for every op a kind fits
std::vector<Fault> ReadFaults();
std::vector<Fault> WriteFaults();
std::vector<Fault> RegionFaults();
std::vector<Fault> ObjectFaults();
std::vector<Fault> TreeFaults();
std::vector<Fault> RenameCopyFaults();
std::vector<Fault> RenamingFaults();
std::vector<Fault> QueryFaults();
std::vector<Fault> ListingFaults();
std::vector<Fault> OwnershipFaults();
std::vector<Fault> TransactionFaults();
std::vector<Fault> LifetimeFaults();
std::vector<Fault> LeakFaults();
std::vector<Fault> ThreadFaults();
std::vector<Fault> OptionFaults();
std::vector<Fault> HistoryFaults();
std::vector<Fault> AftermathFaults();
std::vector<Fault> SetupFaults();
std::vector<Fault> StressFaults();
std::vector<Fault> ScenarioFaults();
std::vector<Fault> NameFaults();
std::vector<Fault> NeighbourFaults();
std::vector<Fault> SpellingFaults();
std::vector<Fault> CostFaults();
std::vector<Fault> MangledFaults();  // of names, many of them "<kind>:<op>"
std::vector<Fault> StaleFaults();    // "stale-after-<change>:<op>"
std::vector<Fault> CountFaults();
std::vector<Fault> HandoverFaults();
std::vector<Fault> ContentFaults();
std::vector<Fault> SizeFaults();
std::vector<Fault> FailingFaults();    // where a system call fails
std::vector<Fault> KilledFaults();     // where the process is killed
std::vector<Fault> NetworkedFaults();  // where the network is in trouble
std::vector<Fault> PowerFaults();      // where the power is lost
std::vector<Fault> ProcessFaults();    // where it forks, gets signals, or is not alone
std::vector<Fault> ExitFaults();       // where the process exits while it is at work
std::vector<Fault> MemoryFaults();     // where memory runs out

}  // namespace fakes

#endif  // TFFS_REFERENCE_PLUGINS_FAKES_FAULTS_H_
