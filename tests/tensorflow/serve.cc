// A native program that was told nothing of plugins: loads the SavedModel at a URI and prints, one
// a line, what it predicts.
//
// serve MODEL INPUT OUTPUT X...: the names are those of the signature's tensors, as in `x:0`.

#include <tensorflow/c/c_api.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using Status = std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)>;
using Tensor = std::unique_ptr<TF_Tensor, decltype(&TF_DeleteTensor)>;

void Check(const Status& status, const char* what) {
  if (TF_GetCode(status.get()) == TF_OK) return;
  std::fprintf(stderr, "%s: %s (code %d)\n", what, TF_Message(status.get()),
               TF_GetCode(status.get()));
  std::exit(1);
}

TF_Output Output(TF_Graph* graph, const std::string& name) {
  const size_t colon = name.find(':');
  TF_Operation* operation = TF_GraphOperationByName(graph, name.substr(0, colon).c_str());
  if (operation == nullptr) {
    std::fprintf(stderr, "the model has no %s\n", name.c_str());
    std::exit(1);
  }
  return {operation, std::atoi(name.c_str() + colon + 1)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Status status(TF_NewStatus(), TF_DeleteStatus);
  TF_Graph* graph = TF_NewGraph();
  TF_SessionOptions* options = TF_NewSessionOptions();
  const char* tags[] = {"serve"};
  TF_Session* session = TF_LoadSessionFromSavedModel(options, nullptr, argv[1], tags, 1, graph,
                                                     nullptr, status.get());
  Check(status, "load");

  const int64_t count = argc - 4;
  const Tensor input(TF_AllocateTensor(TF_FLOAT, &count, 1, count * sizeof(float)),
                     TF_DeleteTensor);
  for (int64_t k = 0; k < count; ++k) {
    static_cast<float*>(TF_TensorData(input.get()))[k] = std::strtof(argv[4 + k], nullptr);
  }
  const TF_Output in = Output(graph, argv[2]);
  const TF_Output out = Output(graph, argv[3]);
  TF_Tensor* given = input.get();
  TF_Tensor* result = nullptr;
  TF_SessionRun(session, nullptr, &in, &given, 1, &out, &result, 1, nullptr, 0, nullptr,
                status.get());
  Check(status, "run");
  const Tensor output(result, TF_DeleteTensor);
  for (int64_t k = 0; k < TF_TensorElementCount(result); ++k) {
    std::printf("%g\n", static_cast<double>(static_cast<float*>(TF_TensorData(result))[k]));
  }
  TF_CloseSession(session, status.get());
  TF_DeleteSession(session, status.get());
  Check(status, "close");
  TF_DeleteSessionOptions(options);
  TF_DeleteGraph(graph);
  return 0;
}
