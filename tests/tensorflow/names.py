"""Prints by which names sessions know the tensors of a SavedModel: `python names.py MODEL`, a local path."""

import json
import sys

from tensorflow.core.protobuf import saved_model_pb2

model = saved_model_pb2.SavedModel()
with open(f"{sys.argv[1]}/saved_model.pb", "rb") as file:
    model.ParseFromString(file.read())
signature = model.meta_graphs[0].signature_def["serving_default"]
print(
    json.dumps({name: tensor.name for side in (signature.inputs, signature.outputs) for name, tensor in side.items()})
)
