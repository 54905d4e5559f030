// The ops for transactions and configuration.
#include <algorithm>
#include <cstring>
#include <set>

#include "host.h"

namespace tffs {
namespace {

constexpr int64_t kForeignToken = -1;
// The plugin did not write the number that it has to set.
constexpr int64_t kNotSet = INT64_MIN;

std::string_view TextOf(const char* text) { return text != nullptr ? text : ""; }

void PutOption(Reply& reply, const TF_Filesystem_Option& option) {
  reply.Bytes(TextOf(option.name)).Bytes(TextOf(option.description)).Integer(option.per_file);
  if (option.value == nullptr) {
    reply.Integer(TF_Filesystem_Num_Option_Types).Integer(0);
    return;
  }
  reply.Integer(option.value->type_tag).Integer(option.value->num_values);
  for (int k = 0; k < option.value->num_values; ++k) {
    const TF_Filesystem_Option_Value_Union& value = option.value->values[k];
    if (option.value->type_tag == TF_Filesystem_Option_Type_Buffer &&
        value.buffer_val.buf_length >= 0) {
      reply.Bytes({value.buffer_val.buf, static_cast<size_t>(value.buffer_val.buf_length)});
    } else if (option.value->type_tag == TF_Filesystem_Option_Type_Buffer) {
      reply.Integer(value.buffer_val.buf_length);  // no buffer has such a length
    } else {
      reply.Integer(value.int_val);  // a double travels by its bits
    }
  }
}

// An option as the host lends it to the plugin: everything it points at goes, spoilt, when this
// goes.
class LentOption {
 public:
  explicit LentOption(Request& request)
      : name_(request.TakeBytes()), description_(request.TakeBytes()) {
    option_.name = name_.get();
    option_.description = *description_.get() != '\0' ? description_.get() : nullptr;
    option_.per_file = static_cast<int>(request.TakeInteger());
    value_.type_tag = static_cast<TF_Filesystem_Option_Type>(request.TakeInteger());
    value_.num_values = static_cast<int>(request.TakeInteger());
    for (int k = 0; k < value_.num_values; ++k) {
      TF_Filesystem_Option_Value_Union value{};
      if (value_.type_tag == TF_Filesystem_Option_Type_Buffer) {
        const std::string_view bytes = request.TakeBytes();
        buffers_.push_back(std::make_unique<Argument>(bytes));
        value.buffer_val.buf = buffers_.back()->get();
        value.buffer_val.buf_length = static_cast<int>(bytes.size());
      } else {
        value.int_val = request.TakeInteger();
      }
      values_.push_back(value);
    }
    value_.values = values_.data();
    option_.value = &value_;
  }
  LentOption(const LentOption&) = delete;
  LentOption& operator=(const LentOption&) = delete;

  ~LentOption() {
    constexpr TF_Filesystem_Option_Value_Union kSpoilt = {INT64_C(0x5a5a5a5a5a5a5a5a)};
    std::fill(values_.begin(), values_.end(), kSpoilt);
  }

  const TF_Filesystem_Option& get() const { return option_; }

  // Whether the plugin wrote to what it was lent.
  bool Changed() const {
    return name_.Changed() || description_.Changed() ||
           std::any_of(buffers_.begin(), buffers_.end(),
                       [](const auto& b) { return b->Changed(); });
  }

 private:
  Argument name_;
  Argument description_;
  std::vector<std::unique_ptr<Argument>> buffers_;
  std::vector<TF_Filesystem_Option_Value_Union> values_;
  TF_Filesystem_Option_Value value_{};
  TF_Filesystem_Option option_{};
};

// The blocks of options that the plugin handed over, and what was seen of them.
class Blocks {
 public:
  Blocks(const TF_Filesystem_Option* options, int count) {
    Add(options);
    for (int k = 0; k < count; ++k) {
      const TF_Filesystem_Option& option = options[k];
      if (option.name == nullptr) watch_ |= kNullEntry;
      Add(option.name);
      Add(option.description);
      const TF_Filesystem_Option_Value* value = option.value;
      Add(value);
      if (value == nullptr) continue;
      Add(value->values);
      if (value->type_tag != TF_Filesystem_Option_Type_Buffer) continue;
      for (int n = 0; n < value->num_values; ++n) Add(value->values[n].buffer_val.buf);
    }
  }

  // Each block once.
  const std::set<void*>& get() const { return blocks_; }
  int64_t watch() const { return watch_; }

 private:
  void Add(const void* block) {
    if (block == nullptr) return;
    if (!blocks_.insert(const_cast<void*>(block)).second) watch_ |= kSharedEntries;
  }

  std::set<void*> blocks_;
  int64_t watch_ = 0;
};

// Whose a token says it is: 0 nobody's, 1 that of this filesystem, 2 another's.
int64_t OwnerOf(const TF_TransactionToken* token, const TF_Filesystem& filesystem) {
  if (token == nullptr || token->owner == nullptr) return 0;
  return token->owner == &filesystem ? 1 : 2;
}

}  // namespace

int64_t Host::NumberOf(TF_TransactionToken* token) {
  if (token == nullptr) return 0;
  const std::lock_guard lock(handles_);
  for (const auto& [number, known] : tokens_)
    if (known == token) return number;
  tokens_.emplace(++last_handle_, token);
  return last_handle_;
}

TF_TransactionToken* Host::TokenOf(int64_t number) {
  if (number == kForeignToken) return &foreign_token_;
  const std::lock_guard lock(handles_);
  const auto found = tokens_.find(number);
  if (found == tokens_.end()) throw BadRequest("there is no such token");
  return found->second;
}

void Host::ForgetToken(int64_t number) {
  const std::lock_guard lock(handles_);
  tokens_.erase(number);
}

Reply Host::StartTransaction(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const auto function = Present(filesystem.ops.start_transaction);
  const StatusPointer status = FreshStatus();
  TF_TransactionToken* token = nullptr;
  const int returned = function(&filesystem.object, &token, status.get());
  return std::move(Answer(status.get(), token != nullptr ? kObjectSet : 0)
                       .Integer(returned)
                       .Integer(NumberOf(token))
                       .Integer(OwnerOf(token, filesystem.object)));
}

Reply Host::EndTransaction(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const int64_t number = request.TakeInteger();
  TF_TransactionToken* token = TokenOf(number);
  const auto function = Present(filesystem.ops.end_transaction);
  const StatusPointer status = FreshStatus();
  const int returned = function(&filesystem.object, token, status.get());
  // The token is freed with its transaction; its address may come back as another one.
  ForgetToken(number);
  return std::move(Answer(status.get()).Integer(returned));
}

Reply Host::AddToTransaction(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  TF_TransactionToken* token = TokenOf(request.TakeInteger());
  const auto function = Present(filesystem.ops.add_to_transaction);
  const StatusPointer status = FreshStatus();
  const int returned = function(&filesystem.object, path.get(), token, status.get());
  return std::move(Answer(status.get(), path.Changed() ? kArgumentChanged : 0).Integer(returned));
}

template <Host::TokenOp op>
Reply Host::TokenByPath(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument path(request.TakeBytes());
  const auto function = Present(filesystem.ops.*op);
  const StatusPointer status = FreshStatus();
  TF_TransactionToken* token = nullptr;
  const int returned = function(&filesystem.object, path.get(), &token, status.get());
  const int64_t watch =
      (path.Changed() ? kArgumentChanged : 0) | (token != nullptr ? kObjectSet : 0);
  return std::move(Answer(status.get(), watch)
                       .Integer(returned)
                       .Integer(NumberOf(token))
                       .Integer(OwnerOf(token, filesystem.object)));
}

template Reply Host::TokenByPath<&TF_FilesystemOps::get_transaction_for_path>(Request&);
template Reply Host::TokenByPath<&TF_FilesystemOps::get_or_start_transaction_for_path>(Request&);

Reply Host::DecodeToken(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const TF_TransactionToken* token = TokenOf(request.TakeInteger());
  const auto function = Present(filesystem.ops.decode_transaction_token);
  char* text = function(&filesystem.object, token);
  Reply reply = Answer(nullptr);
  ReplyString(reply, text);
  return reply;
}

Reply Host::GetConfiguration(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const auto function = Present(filesystem.ops.get_filesystem_configuration);
  const StatusPointer status = FreshStatus();
  TF_Filesystem_Option* options = nullptr;
  auto returned = Poisoned<int>();
  function(&filesystem.object, &options, &returned, status.get());
  const bool is_ok = TF_GetCode(status.get()) == TF_OK;
  const bool is_set = returned != Poisoned<int>();
  const int count = options != nullptr && is_ok && is_set ? returned : 0;
  const Blocks blocks(is_ok ? options : nullptr, count);
  Reply reply = Answer(status.get(), blocks.watch() | (options != nullptr ? kObjectSet : 0));
  reply.Integer(is_set ? returned : kNotSet).Integer(std::max(count, 0));
  for (int k = 0; k < count; ++k) PutOption(reply, options[k]);
  for (void* block : blocks.get()) Free(block);
  return reply;
}

Reply Host::SetConfiguration(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  std::vector<std::unique_ptr<LentOption>> lent;
  std::vector<TF_Filesystem_Option> options;
  const int64_t count = request.TakeInteger();
  for (int64_t k = 0; k < count; ++k) {
    lent.push_back(std::make_unique<LentOption>(request));
    options.push_back(lent.back()->get());
  }
  const auto function = Present(filesystem.ops.set_filesystem_configuration);
  const StatusPointer status = FreshStatus();
  function(&filesystem.object, options.data(), static_cast<int>(options.size()), status.get());
  const bool changed =
      std::any_of(lent.begin(), lent.end(), [](const auto& option) { return option->Changed(); });
  return Answer(status.get(), changed ? kArgumentChanged : 0);
}

Reply Host::GetOption(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  Argument key(request.TakeBytes());
  const auto function = Present(filesystem.ops.get_filesystem_configuration_option);
  const StatusPointer status = FreshStatus();
  TF_Filesystem_Option* option = nullptr;
  function(&filesystem.object, key.get(), &option, status.get());
  // On an error nothing was handed over, whatever the pointer holds.
  const bool found = option != nullptr && TF_GetCode(status.get()) == TF_OK;
  const Blocks blocks(found ? option : nullptr, found ? 1 : 0);
  const int64_t watch = blocks.watch() | (key.Changed() ? kArgumentChanged : 0) |
                        (option != nullptr ? kObjectSet : 0);
  Reply reply = Answer(status.get(), watch);
  reply.Integer(found);
  if (found) PutOption(reply, *option);
  for (void* block : blocks.get()) Free(block);
  return reply;
}

Reply Host::SetOption(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const LentOption option(request);
  const auto function = Present(filesystem.ops.set_filesystem_configuration_option);
  const StatusPointer status = FreshStatus();
  function(&filesystem.object, &option.get(), status.get());
  return Answer(status.get(), option.Changed() ? kArgumentChanged : 0);
}

Reply Host::GetKeys(Request& request) {
  Filesystem& filesystem = TakeFilesystem(request);
  const auto function = Present(filesystem.ops.get_filesystem_configuration_keys);
  const StatusPointer status = FreshStatus();
  // The type leaves open whether one string comes back or an array is filled; there is room for an
  // array, in case.
  constexpr size_t kRoom = 256;
  std::vector<char*> keys(kRoom, nullptr);
  auto returned = Poisoned<int>();
  function(&filesystem.object, keys.data(), &returned, status.get());
  const auto set = kRoom - static_cast<size_t>(std::count(keys.begin(), keys.end(), nullptr));
  Reply reply = Answer(status.get());
  reply.Integer(returned != Poisoned<int>() ? returned : kNotSet)
      .Integer(static_cast<int64_t>(set));
  // One pointer is a string, or the first of a block. As many as there are keys are an array.
  const bool is_array = returned > 0 && set == static_cast<size_t>(returned);
  for (size_t k = 0; k < (is_array ? set : 1); ++k) reply.Bytes(TextOf(keys[k]));
  return reply;
}

}  // namespace tffs
