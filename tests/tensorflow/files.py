"""TensorFlow's ways to files, through a plugin: prints what came of each as a line of JSON.

`python files.py PLUGIN FOLDER`: the plugin's shared object, and the URI of a folder that is not there yet.
"""

import json
import sys
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2


def say(what: str, got: Any) -> None:
    print(json.dumps({what: got}), flush=True)


def files(folder: str) -> None:
    gfile = tf.io.gfile
    gfile.makedirs(f"{folder}/files/deep")
    tf.io.write_file(f"{folder}/files/a", b"\x00first\n\xff")
    say("read_file", tf.io.read_file(f"{folder}/files/a").numpy().hex())
    with gfile.GFile(f"{folder}/files/text", "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(f"{folder}/files/text", "r") as file:
        lines = [file.readline(), file.readline(), file.readline()]
        file.seek(4)
        say("GFile", [lines, file.read(), file.size()])
    gfile.copy(f"{folder}/files/text", f"{folder}/files/deep/copy")
    gfile.rename(f"{folder}/files/deep/copy", f"{folder}/files/deep/moved")
    say("exists", [gfile.exists(f"{folder}/files/{name}") for name in ("text", "deep/copy", "deep/moved", "no")])
    say("isdir", [gfile.isdir(f"{folder}/files/{name}") for name in ("deep", "text", "no")])
    say("listdir", sorted(name.rstrip("/") for name in gfile.listdir(f"{folder}/files")))
    say("glob", sorted(name.removeprefix(folder) for name in gfile.glob(f"{folder}/files/*e*")))
    say("length", gfile.stat(f"{folder}/files/deep/moved").length)
    say("walk", sorted(name for _, _, names in gfile.walk(f"{folder}/files") for name in names))
    say("missing", failure(lambda: tf.io.read_file(f"{folder}/files/no")))
    gfile.remove(f"{folder}/files/text")
    gfile.rmtree(f"{folder}/files/deep")
    say("left", sorted(name.rstrip("/") for name in gfile.listdir(f"{folder}/files")))


def records(folder: str) -> None:
    written = [b"", b"short", b"x" * 300_000]
    with tf.io.TFRecordWriter(f"{folder}/records") as writer:
        for record in written:
            writer.write(record)
    read = [record.numpy() for record in tf.data.TFRecordDataset(f"{folder}/records")]
    say("records", read == written)


def failure(call: Any) -> str:
    try:
        call()
    except tf.errors.OpError as error:
        return type(error).__name__
    return "nothing was raised"


def checkpoint(folder: str) -> None:
    weight = tf.Variable([1.0, 2.0, 3.0])
    saved = tf.train.Checkpoint(weight=weight).save(f"{folder}/checkpoints/w")
    weight.assign([0.0, 0.0, 0.0])
    latest = tf.train.latest_checkpoint(f"{folder}/checkpoints")
    tf.train.Checkpoint(weight=weight).restore(latest).assert_consumed()
    say("checkpoint", [latest == saved, weight.numpy().tolist()])


class Model(tf.Module):  # type: ignore[misc]
    """Three times x, and one; with an asset, which is a file that is copied into the model and read from there."""

    def __init__(self, vocabulary: str) -> None:
        super().__init__()
        self.factor = tf.Variable(3.0)
        self.vocabulary = tf.saved_model.Asset(vocabulary)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])  # type: ignore[untyped-decorator]
    def predict(self, x: Any) -> dict[str, Any]:
        words = tf.strings.length(tf.io.read_file(self.vocabulary.asset_path))
        return {"y": self.factor * x + 1.0, "length": words}


def saved_model(folder: str) -> None:
    tf.io.write_file(f"{folder}/vocabulary", "seven !")
    model = Model(f"{folder}/vocabulary")
    tf.saved_model.save(model, f"{folder}/model/1", signatures=model.predict)
    predict = tf.saved_model.load(f"{folder}/model/1").signatures["serving_default"]
    answers = predict(x=tf.constant([1.0, 2.0]))
    say("saved_model", {name: value.numpy().tolist() for name, value in answers.items()})
    with tf.io.gfile.GFile(f"{folder}/model/1/saved_model.pb", "rb") as file:
        written = saved_model_pb2.SavedModel.FromString(file.read())
    signature = written.meta_graphs[0].signature_def["serving_default"]
    # As sessions know them, which native programs use.
    say("tensors", [signature.inputs["x"].name, signature.outputs["y"].name])


def main(plugin: str, folder: str) -> None:
    scheme = folder.partition("://")[0]
    tf.load_op_library(plugin)
    say("load_op_library", scheme in tf.io.gfile.get_registered_schemes())
    tf.experimental.register_filesystem_plugin(plugin)
    say("registered", scheme in tf.io.gfile.get_registered_schemes())
    say("again", failure(lambda: tf.experimental.register_filesystem_plugin(plugin)))
    for theme in (files, records, checkpoint, saved_model):
        theme(folder)


main(*sys.argv[1:])
