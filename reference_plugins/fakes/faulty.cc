// libfaulty.so: the posix plugin behind the scheme `faulty`, with the one fault that TFFS_FAULT
// names.

#include <vector>

#include "choice.h"
#include "faults.h"
#include "tables.h"

extern "C" void TF_InitPlugin(TF_FilesystemPluginInfo* info) {
  std::vector<fakes::Fault> faults;
  for (const auto& theme :
       {fakes::ReadFaults(), fakes::WriteFaults(), fakes::RegionFaults(), fakes::ObjectFaults(),
        fakes::TreeFaults(), fakes::RenameCopyFaults(), fakes::QueryFaults(),
        fakes::ListingFaults(), fakes::OwnershipFaults(), fakes::LifetimeFaults(),
        fakes::ThreadFaults(), fakes::TransactionFaults(), fakes::OptionFaults(),
        fakes::HistoryFaults(), fakes::KindFaults()}) {
    faults.insert(faults.end(), theme.begin(), theme.end());
  }
  posix::Tables tables;
  fakes::ApplyChosen(faults, tables);
  posix::Register("faulty", tables, info);
}
