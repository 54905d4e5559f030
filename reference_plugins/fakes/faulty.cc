// libfaulty.so: the posix plugin behind the scheme `faulty`, with the one fault that TFFS_FAULT
// names.

#include <vector>

#include "choice.h"
#include "faults.h"
#include "posix/tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  std::vector<fakes::Fault> faults;
  for (const auto& theme :
       {fakes::ReadFaults(),     fakes::WriteFaults(),   fakes::RegionFaults(),
        fakes::ObjectFaults(),   fakes::TreeFaults(),    fakes::RenameCopyFaults(),
        fakes::QueryFaults(),    fakes::ListingFaults(), fakes::OwnershipFaults(),
        fakes::LifetimeFaults(), fakes::ThreadFaults(),  fakes::TransactionFaults(),
        fakes::OptionFaults(),   fakes::HistoryFaults(), fakes::SetupFaults(),
        fakes::NameFaults(),     fakes::StressFaults(),  fakes::ScenarioFaults(),
        fakes::SpellingFaults(), fakes::CostFaults(),    fakes::KindFaults()}) {
    faults.insert(faults.end(), theme.begin(), theme.end());
  }
  support::Tables tables = posix::AllTables();
  fakes::ApplyChosen(faults, tables);
  support::Register("faulty", tables, info);
}
