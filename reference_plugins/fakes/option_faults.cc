// Options, as far as something can be wrong with them.

#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"
#include "support/memory.h"

namespace fakes {
namespace {

using Lock = std::lock_guard<std::mutex>;

void Answer(Status status, TF_Code code) {
  TF_SetStatus(status, code, code == TF_OK ? "" : "the fault says so, or the caller is wrong");
}

// One option, with the one value it has.
struct Setting {
  std::string name;
  TF_Filesystem_Option_Type type;
  int64_t number = 0;
  double real = 0;
  std::string bytes;
};

struct Store {
  std::mutex mutex;
  std::vector<Setting> settings = {{"number", TF_Filesystem_Option_Type_Int, 7, 0, ""},
                                   {"real", TF_Filesystem_Option_Type_Real, 0, 0.25, ""},
                                   {"bytes", TF_Filesystem_Option_Type_Buffer, 0, 0, "seven"}};

  Setting* Find(const char* name) {
    for (Setting& setting : settings)
      if (setting.name == name) return &setting;
    return nullptr;
  }
};

Store& Now() {
  static Store store;
  return store;
}

template <typename T>
T* Blocks(size_t count) {
  void* block = support::Allocate(count * sizeof(T));
  return static_cast<T*>(std::memset(block, 0, count * sizeof(T)));
}

void Fill(const Setting& setting, TF_Filesystem_Option* option) {
  option->name = support::CopyString(setting.name);
  option->description = support::CopyString("of no use");
  option->value = Blocks<TF_Filesystem_Option_Value>(1);
  option->value->type_tag = setting.type;
  option->value->num_values = 1;
  option->value->values = Blocks<TF_Filesystem_Option_Value_Union>(1);
  TF_Filesystem_Option_Value_Union& value = *option->value->values;
  if (setting.type == TF_Filesystem_Option_Type_Int) value.int_val = setting.number;
  if (setting.type == TF_Filesystem_Option_Type_Real) value.real_val = setting.real;
  if (setting.type == TF_Filesystem_Option_Type_Buffer) {
    value.buffer_val.buf = support::CopyString(setting.bytes);
    value.buffer_val.buf_length = static_cast<int>(setting.bytes.size());
  }
}

TF_Filesystem_Option* Copies(const std::vector<Setting>& settings) {
  auto* options = Blocks<TF_Filesystem_Option>(settings.size());
  for (size_t k = 0; k < settings.size(); ++k) Fill(settings[k], &options[k]);
  return options;
}

// Stores one option. Gives the code of the answer.
TF_Code Put(const TF_Filesystem_Option& option) {
  Setting* setting = Now().Find(option.name);
  if (setting == nullptr) return TF_NOT_FOUND;
  if (option.value->type_tag != setting->type || option.value->num_values != 1)
    return TF_INVALID_ARGUMENT;
  const TF_Filesystem_Option_Value_Union& value = *option.value->values;
  if (setting->type == TF_Filesystem_Option_Type_Int) setting->number = value.int_val;
  if (setting->type == TF_Filesystem_Option_Type_Real) setting->real = value.real_val;
  if (setting->type == TF_Filesystem_Option_Type_Buffer)
    setting->bytes.assign(value.buffer_val.buf, static_cast<size_t>(value.buffer_val.buf_length));
  return TF_OK;
}

// The right ops ---------------------------------------------------------------------------------

void GetAll(Filesystem, TF_Filesystem_Option** options, int* count, Status status) {
  const Lock lock(Now().mutex);
  *options = Copies(Now().settings);
  *count = static_cast<int>(Now().settings.size());
  Answer(status, TF_OK);
}

void GetOne(Filesystem, const char* key, TF_Filesystem_Option** option, Status status) {
  const Lock lock(Now().mutex);
  const Setting* setting = Now().Find(key);
  if (setting == nullptr) return Answer(status, TF_NOT_FOUND);
  *option = Copies({*setting});
  Answer(status, TF_OK);
}

// Sets options with `put`, which gives the code of the answer, until one fails.
template <TF_Code (*put)(const TF_Filesystem_Option&)>
void SetAll(Filesystem, const TF_Filesystem_Option* options, int count, Status status) {
  const Lock lock(Now().mutex);
  TF_Code code = TF_OK;
  for (int k = 0; k < count && code == TF_OK; ++k) code = put(options[k]);
  Answer(status, code);
}

template <TF_Code (*put)(const TF_Filesystem_Option&)>
void SetOne(Filesystem filesystem, const TF_Filesystem_Option* option, Status status) {
  SetAll<put>(filesystem, option, 1, status);
}

// The wrong ones --------------------------------------------------------------------------------

void GetAllButOne(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                  Status status) {
  static bool is_asked_before = false;
  GetAll(filesystem, options, count, status);
  if (!std::exchange(is_asked_before, true)) --*count;
}

void GetAllTwice(Filesystem, TF_Filesystem_Option** options, int* count, Status status) {
  const Lock lock(Now().mutex);
  std::vector<Setting> twice = Now().settings;
  twice.push_back(twice.front());
  *options = Copies(twice);
  *count = static_cast<int>(twice.size());
  Answer(status, TF_OK);
}

void GetAllUntyped(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                   Status status) {
  GetAll(filesystem, options, count, status);
  (*options)[0].value->type_tag = TF_Filesystem_Num_Option_Types;
}

void GetFirst(Filesystem filesystem, const char* key, TF_Filesystem_Option** option,
              Status status) {
  GetOne(filesystem, Now().Find(key) == nullptr ? key : "number", option, status);
}

void GetDefault(Filesystem, const char* key, TF_Filesystem_Option** option, Status status) {
  Store fresh;
  const Setting* setting = fresh.Find(key);
  if (setting == nullptr) return Answer(status, TF_NOT_FOUND);
  *option = Copies({*setting});
  Answer(status, TF_OK);
}

void GetAllUncounted(Filesystem filesystem, TF_Filesystem_Option** options, int*, Status status) {
  int count;
  GetAll(filesystem, options, &count, status);
}

void GetAllPerTwo(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                  Status status) {
  GetAll(filesystem, options, count, status);
  (*options)[0].per_file = 2;
}

void GetAllDescribedOnce(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                         Status status) {
  GetAll(filesystem, options, count, status);
  support::Free((*options)[1].description);
  (*options)[1].description = (*options)[0].description;
}

void GetAllNameless(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                    Status status) {
  GetAll(filesystem, options, count, status);
  support::Free((*options)[0].name);
  (*options)[0].name = nullptr;
}

void GetKeys(Filesystem, char** keys, int* count, Status status) {
  const Lock lock(Now().mutex);
  for (size_t k = 0; k < Now().settings.size(); ++k)
    keys[k] = support::CopyString(Now().settings[k].name);
  *count = static_cast<int>(Now().settings.size());
  Answer(status, TF_OK);
}

void GetKeysUncounted(Filesystem filesystem, char** keys, int*, Status status) {
  int count;
  GetKeys(filesystem, keys, &count, status);
}

void GetOldKeys(Filesystem filesystem, char** keys, int* count, Status status) {
  GetKeys(filesystem, keys, count, status);
  support::Free(keys[0]);
  keys[0] = support::CopyString("of-an-older-version");
}

// The beginning of a name will do.
void GetByPrefix(Filesystem filesystem, const char* key, TF_Filesystem_Option** option,
                 Status status) {
  std::string name = key;
  for (const Setting& setting : Now().settings)
    if (!name.empty() && setting.name.compare(0, name.size(), name) == 0) name = setting.name;
  GetOne(filesystem, name.c_str(), option, status);
}

TF_Code IgnoresUnknown(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  return code == TF_NOT_FOUND ? TF_OK : code;
}

TF_Code Truncates(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  Setting* number = Now().Find("number");
  number->number = static_cast<int32_t>(number->number);
  return code;
}

TF_Code RoundsReals(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  Setting* real = Now().Find("real");
  real->real = static_cast<double>(static_cast<float>(real->real));
  return code;
}

TF_Code CutsBuffers(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  std::string& bytes = Now().Find("bytes")->bytes;
  if (bytes.size() > 4096) bytes.resize(4096);
  return code;
}

// Who sets the number sets the real back.
TF_Code ResetsOne(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  if (code == TF_OK && std::strcmp(option.name, "number") == 0) Now().Find("real")->real = 0.25;
  return code;
}

TF_Code Forgets(const TF_Filesystem_Option& option) {
  return Now().Find(option.name) == nullptr ? TF_NOT_FOUND : TF_OK;
}

// Takes the buffer for a string.
TF_Code StopsAtNul(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  Setting* setting = Now().Find("bytes");
  setting->bytes.resize(std::strlen(setting->bytes.c_str()));
  return code;
}

TF_Code ResetsOthers(const TF_Filesystem_Option& option) {
  const Setting* before = Now().Find(option.name);
  if (before == nullptr) return TF_NOT_FOUND;
  const Setting kept = *before;
  Now().settings = Store().settings;
  *Now().Find(option.name) = kept;
  return Put(option);
}

TF_Code StoresThenRefuses(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  return code == TF_OK && Now().Find("real")->real < 0 ? TF_INVALID_ARGUMENT : code;
}

// Where the bytes were that were lent to be set, and that everybody gets to see.
const char* lent = nullptr;
int lent_length = 0;

TF_Code KeepsBuffer(const TF_Filesystem_Option& option) {
  const TF_Code code = Put(option);
  if (code == TF_OK && option.value->type_tag == TF_Filesystem_Option_Type_Buffer) {
    lent = option.value->values->buffer_val.buf;
    lent_length = option.value->values->buffer_val.buf_length;
  }
  return code;
}

void GetLent(Filesystem filesystem, TF_Filesystem_Option** options, int* count, Status status) {
  if (lent != nullptr) Now().Find("bytes")->bytes.assign(lent, static_cast<size_t>(lent_length));
  GetAll(filesystem, options, count, status);
}

void Options(support::Tables& t) {
  t.filesystem.get_filesystem_configuration = GetAll;
  t.filesystem.set_filesystem_configuration = SetAll<Put>;
  t.filesystem.get_filesystem_configuration_option = GetOne;
  t.filesystem.set_filesystem_configuration_option = SetOne<Put>;
}

// Options that are right but for one op.
template <auto Entry, auto Function>
void But(support::Tables& t) {
  Options(t);
  t.filesystem.*Entry = Function;
}

void GetAllNegative(Filesystem filesystem, TF_Filesystem_Option** options, int* count,
                    Status status) {
  GetAll(filesystem, options, count, status);
  for (int k = 0; k < *count; ++k)
    if ((*options)[k].value->type_tag == TF_Filesystem_Option_Type_Buffer)
      (*options)[k].value->values->buffer_val.buf_length = -1;
}

template <auto Entry>
void CannotDo(support::Tables& t) {
  Options(t);
  fakes::Answer<TF_INTERNAL>(t.filesystem.*Entry);
}

// Options that are right but for how they are stored.
template <TF_Code (*put)(const TF_Filesystem_Option&)>
void Storing(support::Tables& t) {
  Options(t);
  t.filesystem.set_filesystem_configuration = SetAll<put>;
  t.filesystem.set_filesystem_configuration_option = SetOne<put>;
}

}  // namespace

std::vector<Fault> OptionFaults() {
  constexpr const char* kWorks = "what the plugin offers works";
  constexpr const char* kReadBack = "an option is read back as it was set";
  return {
      {"options.cannot-get-all", "get_filesystem_configuration answers INTERNAL", kWorks,
       CannotDo<&Ops::get_filesystem_configuration>},
      {"options.cannot-set-all", "set_filesystem_configuration answers INTERNAL", kWorks,
       CannotDo<&Ops::set_filesystem_configuration>},
      {"options.cannot-get", "get_filesystem_configuration_option answers INTERNAL", kWorks,
       CannotDo<&Ops::get_filesystem_configuration_option>},
      {"options.cannot-set", "set_filesystem_configuration_option answers INTERNAL", kWorks,
       CannotDo<&Ops::set_filesystem_configuration_option>},
      {"options.one-name-twice", "two options have the same name", "a name is a key",
       But<&Ops::get_filesystem_configuration, GetAllTwice>},
      {"options.one-lacks-at-first", "the first answer lacks an option", "all options are given",
       But<&Ops::get_filesystem_configuration, GetAllButOne>},
      {"options.no-type", "an option has a type that there is not", "a value has a type",
       But<&Ops::get_filesystem_configuration, GetAllUntyped>},
      {"options.no-number", "the number of options is not written", "the number is set",
       But<&Ops::get_filesystem_configuration, GetAllUncounted>},
      {"options.per-file-is-two", "per_file of an option is 2", "per_file is 0 or 1",
       But<&Ops::get_filesystem_configuration, GetAllPerTwo>},
      {"options.shared-description", "two options have one description",
       "every block is handed over once",
       But<&Ops::get_filesystem_configuration, GetAllDescribedOnce>},
      {"options.no-name", "an option's name is NULL", "an option has a name",
       But<&Ops::get_filesystem_configuration, GetAllNameless>},
      {"options.no-number-of-keys", "the number of keys is not written", "the number is set",
       But<&Ops::get_filesystem_configuration_keys, GetKeysUncounted>},
      {"options.old-keys", "a key is none of an option", "the keys are those of the options",
       But<&Ops::get_filesystem_configuration_keys, GetOldKeys>},
      {"options.finds-by-prefix", "the beginning of a name is a key",
       "an option is found by its name",
       But<&Ops::get_filesystem_configuration_option, GetByPrefix>},
      {"options.ignores-unknown",
       "an option that does not exist is set with OK, and nobody is told",
       "what is ignored is told", Storing<IgnoresUnknown>},
      {"options.truncates-to-32-bits", "a number loses all but 32 bits", kReadBack,
       Storing<Truncates>},
      {"options.rounds-reals", "a real is stored in 32 bits", kReadBack, Storing<RoundsReals>},
      {"options.cuts-buffers", "a buffer loses what is behind 4 KiB", kReadBack,
       Storing<CutsBuffers>},
      {"options.resets-one", "who sets one option resets another",
       "setting an option changes no other", Storing<ResetsOne>},
      {"options.negative-length", "a buffer has the length -1",
       "a buffer has as many bytes as it says",
       But<&Ops::get_filesystem_configuration, GetAllNegative>},
      {"options.gives-the-first", "every known key gets the first option",
       "an option is found by its name", But<&Ops::get_filesystem_configuration_option, GetFirst>},
      {"options.gives-the-default",
       "get_filesystem_configuration_option gives the value of the start",
       "both ways to an option give the same value",
       But<&Ops::get_filesystem_configuration_option, GetDefault>},
      {"options.forgets", "what is set is not stored", kReadBack, Storing<Forgets>},
      {"options.stops-at-nul", "a buffer ends at its first NUL", kReadBack, Storing<StopsAtNul>},
      {"options.resets-others", "all other options get back the value of the start",
       "setting an option changes no other", Storing<ResetsOthers>},
      {"options.stores-then-refuses", "a negative real is refused, and stored",
       "what is refused changes nothing", Storing<StoresThenRefuses>},
      {"options.keeps-buffer", "the pointer to a buffer is kept, and read later",
       "the caller may overwrite arguments when the op is back",
       Together(Storing<KeepsBuffer>, With(&Ops::get_filesystem_configuration, GetLent))},
  };
}

}  // namespace fakes
