// libfaulty.so: the posix plugin behind the scheme `faulty`, with the fault that TFFS_FAULT names,
// or with several, with commas between them.

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "choice.h"
#include "faults.h"
#include "ops.h"
#include "posix/tables.h"

namespace {

// Takes over the ops that a fault has changed. Two faults of one op are none of each: it aborts.
struct TakeOver {
  const support::Tables& changed;
  support::Tables& tables;
  const std::string& fault;

  template <auto Entry>
  void Op(const char* op) {
    Take(op, Entry);
  }
  template <typename Ops, typename Function>
  void Take(const char* op, Function Ops::* entry) {
    const Function right = fakes::TableOf<Ops>(fakes::Real()).*entry;
    const Function faulty = fakes::TableOf<Ops>(changed).*entry;
    Function& taken = fakes::TableOf<Ops>(tables).*entry;
    if (faulty == right) return;
    if (taken != right) {
      std::fprintf(stderr, "%s changes %s, and another fault does so, too\n", fault.c_str(), op);
      std::abort();
    }
    taken = faulty;
  }
};

}  // namespace

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  std::vector<fakes::Fault> faults;
  for (const auto& theme :
       {fakes::ReadFaults(),      fakes::WriteFaults(),       fakes::RegionFaults(),
        fakes::ObjectFaults(),    fakes::TreeFaults(),        fakes::RenameCopyFaults(),
        fakes::RenamingFaults(),  fakes::QueryFaults(),       fakes::ListingFaults(),
        fakes::OwnershipFaults(), fakes::LeakFaults(),        fakes::LifetimeFaults(),
        fakes::ThreadFaults(),    fakes::TransactionFaults(), fakes::OptionFaults(),
        fakes::HistoryFaults(),   fakes::AftermathFaults(),   fakes::SetupFaults(),
        fakes::NameFaults(),      fakes::StressFaults(),      fakes::ScenarioFaults(),
        fakes::SpellingFaults(),  fakes::CostFaults(),        fakes::MangledFaults(),
        fakes::StaleFaults(),     fakes::CountFaults(),       fakes::HandoverFaults(),
        fakes::ContentFaults(),   fakes::FailingFaults(),     fakes::KilledFaults(),
        fakes::NetworkedFaults(), fakes::ProcessFaults(),     fakes::PowerFaults(),
        fakes::MemoryFaults(),    fakes::ExitFaults(),        fakes::NeighbourFaults(),
        fakes::SizeFaults(),      fakes::KindFaults()}) {
    faults.insert(faults.end(), theme.begin(), theme.end());
  }
  support::Tables tables = posix::AllTables();
  std::istringstream chosen(fakes::Chosen());
  for (std::string name; std::getline(chosen, name, ',');) {
    support::Tables changed = posix::AllTables();
    fakes::Named(faults, name).apply(changed);
    TakeOver take{changed, tables, name};
    fakes::ForEachOp(take);
  }
  support::Register("faulty", tables, info);
}
