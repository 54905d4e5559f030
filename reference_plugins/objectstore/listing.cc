// Many keys at once: listings, and deleting what they name.

#include <algorithm>

#include "answers.h"
#include "digest.h"
#include "documents.h"
#include "failure.h"
#include "objects.h"
#include "text.h"

namespace objectstore {
namespace {

// Who lists, or deletes, what a store names must not be led elsewhere.
void DemandAskedFor(const Page& page, const Range& range) {
  const auto is_inside = [&](const std::string& text) {
    return !text.empty() && BeginsWith(text, range.prefix);
  };
  const auto is_cut = [&](const std::string& prefix) {
    return is_inside(prefix) && prefix.size() > range.prefix.size() && prefix.back() == '/';
  };
  if (!std::all_of(page.keys.begin(), page.keys.end(), is_inside) ||
      !std::all_of(page.prefixes.begin(), page.prefixes.end(), is_cut)) {
    throw Failure(TF_INTERNAL, "the store lists what it was not asked for");
  }
}

}  // namespace

Page Objects::List(const std::string& bucket, const Range& range) const {
  Call call = {"GET", {bucket, ""}};
  call.query = {{"list-type", "2"},
                {"encoding-type", "url"},
                {"prefix", range.prefix},
                {"max-keys", std::to_string(range.most)}};
  if (range.one_level) call.query["delimiter"] = "/";
  if (!range.token.empty()) call.query["continuation-token"] = range.token;
  const Response response = s3_.Send(call);
  if (!Is(response, 200)) throw Refusal(response);
  Page page = ReadPage(response.body);
  DemandAskedFor(page, range);
  return page;
}

bool Objects::HasBucket(const std::string& bucket) const {
  try {
    List(bucket, {"", false, 1, ""});
    return true;
  } catch (const Failure& failure) {
    if (failure.code() != TF_NOT_FOUND) throw;
    return false;
  }
}

std::map<std::string, std::string> Objects::DeleteTogether(
    const std::string& bucket, const std::vector<std::string>& keys) const {
  Call call = {"POST", {bucket, ""}, {{"delete", ""}}};
  call.body.text = DeleteList(keys);
  if (HasMd5()) {
    call.headers["content-md5"] = Base64(Md5(call.body.text));
  } else {
    call.headers["x-amz-checksum-sha256"] = Base64(Sha256(call.body.text));
  }
  const Response response = s3_.Send(call);
  // It knows no such request, or no checksum of it but MD5.
  if (response.status == 405 || response.status == 501) return {};
  if (response.status == 400 && !HasMd5()) return {};
  if (!Is(response, 200)) throw Refusal(response);
  return ReadDeletions(response.body);
}

std::vector<std::pair<std::string, Failure>> Objects::DeleteAll(
    const std::string& bucket, const std::vector<std::string>& keys) const {
  constexpr size_t kMost = 1000;  // in one request
  std::vector<std::pair<std::string, Failure>> left;
  const auto delete_alone = [&](const std::string& key) {
    try {
      Delete({bucket, key});
    } catch (const Failure& failure) {
      left.emplace_back(key, failure);
    }
  };
  std::vector<std::string> texts;
  for (const std::string& key : keys) {
    // A parser may make blanks of these three.
    if (IsXml(key) && key.find_first_of("\t\n\r") == std::string::npos) {
      texts.push_back(key);
    } else {
      delete_alone(key);
    }
  }
  for (auto next = texts.begin(); next != texts.end();) {
    const auto end = next + std::min<std::ptrdiff_t>(kMost, texts.end() - next);
    const std::vector<std::string> together(next, end);
    next = end;
    try {
      const auto told = DeleteTogether(bucket, together);
      for (const std::string& key : together) {
        const auto found = told.find(key);
        if (found == told.end()) {
          delete_alone(key);  // silence is no success
        } else if (!found->second.empty() && found->second != "NoSuchKey") {
          left.emplace_back(key, Failure(MeaningOf(found->second),
                                         "the store keeps an object: " + Word(found->second)));
        }
      }
    } catch (const Failure& failure) {
      for (const std::string& key : together) left.emplace_back(key, failure);
    }
    metadata_.Clear();
  }
  return left;
}

}  // namespace objectstore
