"""What users of TensorFlow do with files, by TensorFlow's own readers and writers.

`tensorflow_host.py` performs a program in the Python that has TensorFlow: nothing else is imported here. A program gets
`See`, the URI of a folder that is there and empty, and texts. It says what it saw, beside what it should have seen.
"""

import contextlib
import ctypes
import gzip
import importlib
import os
import tempfile
import zlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

#: Takes down one thing that was seen: what it is, what it should be, what it was.
See = Callable[[str, object, object], None]

COMPRESSED: "dict[str, Callable[[bytes], bytes]]" = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
LINES = [b"", b"one", b"two words", b"x" * 100_000] + [b"line %d" % k for k in range(2000)]
#: Shorter and longer than what readers have in their buffers.
RECORDS = [b"", b"short", b"x" * 300_000] + [bytes([k % 251]) * k for k in range(600)]
SHARDS = 8


class LackingError(Exception):
    """This TensorFlow, or this target, has not what the program is about; the text says what."""


# Files and records ----------------------------------------------------------------------------------------------------


def files(see: See, folder: str) -> None:
    """Text is written, appended, read by lines and places, moved, walked and deleted, through tf.io.gfile."""
    gfile = tf.io.gfile
    gfile.makedirs(f"{folder}/a/b")
    with gfile.GFile(f"{folder}/a/text", "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(f"{folder}/a/text", "a") as file:
        file.write("three\n")
    with gfile.GFile(f"{folder}/a/text", "r") as file:
        see("lines", ["one\n", "two\n", "three\n"], list(file))
        file.seek(4)
        see("from 4", ("two\nth", 10, 14), (file.read(6), file.tell(), file.size()))
    tf.io.write_file(f"{folder}/new/deep/bytes", b"\x00\xff")
    see("read_file", b"\x00\xff", tf.io.read_file(f"{folder}/new/deep/bytes").numpy())
    gfile.rename(f"{folder}/a/text", f"{folder}/a/b/moved")
    gfile.copy(f"{folder}/a/b/moved", f"{folder}/copied")
    walked = [name for _, _, names in gfile.walk(folder) for name in names]
    see("walk", ["bytes", "copied", "moved"], sorted(walked))
    see("exists", (False, True), (gfile.exists(f"{folder}/a/text"), gfile.exists(f"{folder}/a/b/moved")))
    gfile.rmtree(f"{folder}/a")
    gfile.rmtree(f"{folder}/new")
    see("left", ["copied"], _names(folder))


def streams(see: See, folder: str, compression: str) -> None:
    """Lines and records of one length are read through buffers of several sizes, compressed or not."""
    text = b"\n".join(LINES)
    tf.io.write_file(f"{folder}/text", COMPRESSED[compression](text))
    tf.io.write_file(f"{folder}/fixed", COMPRESSED[compression](b"head" + b"12345" * 3000 + b"tail"))
    for buffer in (64, 4096, 1 << 20):
        lines = tf.data.TextLineDataset(f"{folder}/text", compression_type=compression, buffer_size=buffer)
        see(f"lines, {buffer} bytes at once", LINES, list(lines.as_numpy_iterator()))
        fixed = tf.data.FixedLengthRecordDataset(f"{folder}/fixed", 5, 4, 4, buffer, compression_type=compression)
        see(f"records, {buffer} bytes at once", [b"12345"] * 3000, list(fixed.as_numpy_iterator()))
    if compression:
        whole = tf.io.decode_compressed(tf.io.read_file(f"{folder}/text"), compression)
        see("all at once", text, whole.numpy())


def records(see: See, folder: str, compression: str) -> None:
    """Records are written and read, and a file that is cut off is told."""
    path = f"{folder}/records"
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression_type=compression)) as writer:
        for record in RECORDS:
            writer.write(record)
    for buffer in (0, 1000, 1 << 20):
        read = tf.data.TFRecordDataset(path, compression_type=compression, buffer_size=buffer)
        see(f"records, {buffer} bytes at once", RECORDS, list(read.as_numpy_iterator()))
    if not compression:
        tf.io.write_file(f"{folder}/cut", _whole(path)[:-1])
        cut = tf.data.TFRecordDataset(f"{folder}/cut")
        see("a file that is cut off", "DataLossError", _failure(lambda: list(cut.as_numpy_iterator())))


def shards(see: See, folder: str) -> None:
    """The shards of a data set are found by their pattern, and read side by side."""
    for k in range(SHARDS):
        with tf.io.TFRecordWriter(f"{folder}/data-{k:05}-of-{SHARDS:05}") as writer:
            for number in range(100):
                writer.write(b"%d/%d" % (k, number))
    tf.io.write_file(f"{folder}/data-notes", "no shard")
    found = tf.data.Dataset.list_files(f"{folder}/data-?????-of-?????", shuffle=False)
    names = [name.decode().rpartition("/")[2] for name in found.as_numpy_iterator()]
    see("shards", [f"data-{k:05}-of-{SHARDS:05}" for k in range(SHARDS)], names)
    side_by_side = found.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=4, deterministic=False)
    expected = sorted(b"%d/%d" % (k, number) for k in range(SHARDS) for number in range(100))
    see("records of all shards", expected, sorted(side_by_side.as_numpy_iterator()))
    nothing = _failure(lambda: list(tf.data.Dataset.list_files(f"{folder}/other-*")))
    see("a pattern that nothing fits", "InvalidArgumentError", nothing)


def many_readers(see: See, folder: str) -> None:
    """Sixteen threads of tf.data read whole files at the same time."""
    contents = [bytes([k]) * (1000 * k + 1) for k in range(64)]
    for k, content in enumerate(contents):
        tf.io.write_file(f"{folder}/{k}", content)
    numbers = tf.data.Dataset.range(64).repeat(4)
    paths = numbers.map(lambda k: tf.strings.join([folder, "/", tf.strings.as_string(k)]))
    read = list(paths.map(tf.io.read_file, num_parallel_calls=16).as_numpy_iterator())
    see("files whose content is wrong", [], [k % 64 for k in range(256) if read[k] != contents[k % 64]])


# Models ---------------------------------------------------------------------------------------------------------------


def checkpoints(see: See, folder: str) -> None:
    """Five checkpoints are saved, of which two are kept, and both are restored."""
    weight = tf.Variable([0.0] * 1000)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(weight=weight), folder, max_to_keep=2)
    for step in range(1, 6):
        weight.assign([float(step)] * 1000)
        manager.save()
    kept = [f"ckpt-{step}{end}" for step in (4, 5) for end in (".data-00000-of-00001", ".index")]
    see("files", ["checkpoint", *kept], _names(folder))
    see("latest", f"{folder}/ckpt-5", tf.train.latest_checkpoint(folder))
    for step in (4, 5):
        restored = tf.Variable([0.0] * 1000)
        tf.train.Checkpoint(weight=restored).restore(f"{folder}/ckpt-{step}").assert_existing_objects_matched()
        see(f"weights of step {step}", [float(step)] * 1000, restored.numpy().tolist())


def sharded_checkpoint(see: See, folder: str) -> None:
    """Three writers save their parts in a temporary folder, and one makes a checkpoint of them."""
    parts = [f"{folder}/ckpt_temp/part-{k:05}-of-00003" for k in range(3)]
    values = {f"tensor-{k}": [float(k)] * (1 << 10 * k) for k in range(3)}
    for part, (name, value) in zip(parts, values.items(), strict=True):
        tf.raw_ops.SaveV2(prefix=part, tensor_names=[name], shape_and_slices=[""], tensors=[tf.constant(value)])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=f"{folder}/ckpt", delete_old_dirs=True)
    expected = [*(f"ckpt.data-{k:05}-of-00003" for k in range(3)), "ckpt.index"]
    see("files", expected, _names(folder))
    restored = tf.raw_ops.RestoreV2(
        prefix=f"{folder}/ckpt", tensor_names=list(values), shape_and_slices=[""] * 3, dtypes=[tf.float32] * 3
    )
    for (name, value), tensor in zip(values.items(), restored, strict=True):
        see(name, value, tensor.numpy().tolist())


def save_on_and_on(see: See, folder: str) -> None:
    """Checkpoints are saved until somebody ends the process."""
    weight = tf.Variable([0.0] * 10_000)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(weight=weight), folder, max_to_keep=3)
    manager.restore_or_initialize()
    while True:
        weight.assign_add([1.0] * 10_000)
        manager.save()


def save_once(see: See, folder: str) -> None:
    """The first checkpoint of those that `save_on_and_on` saves."""
    weight = tf.Variable([1.0] * 10_000)
    saved = tf.train.CheckpointManager(tf.train.Checkpoint(weight=weight), folder, max_to_keep=3).save()
    see("latest", saved, tf.train.latest_checkpoint(folder))


def restore_latest(see: See, folder: str) -> None:
    """The latest checkpoint that `save_on_and_on` saved is whole."""
    latest = tf.train.latest_checkpoint(folder)
    see("there is a checkpoint", True, latest is not None)
    if latest is None:
        return
    weight = tf.Variable([0.0] * 10_000)
    tf.train.Checkpoint(weight=weight).restore(latest).assert_existing_objects_matched()
    step = float(latest.rpartition("-")[2])
    see("weights are those of its step", {step}, set(weight.numpy().tolist()))


def saved_model(see: See, folder: str) -> None:
    """A model with a variable and an asset is saved, loaded and asked."""

    class Model(tf.Module):  # type: ignore[misc]
        """Three times x, and how long its asset is."""

        def __init__(self) -> None:
            super().__init__()
            self.factor = tf.Variable(3.0)
            self.words = tf.saved_model.Asset(f"{folder}/words")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])  # type: ignore[untyped-decorator]
        def predict(self, x: Any) -> dict[str, Any]:
            return {"y": self.factor * x, "length": tf.strings.length(tf.io.read_file(self.words.asset_path))}

    words = "seven !" * 30_000
    tf.io.write_file(f"{folder}/words", words)
    model = Model()
    tf.saved_model.save(model, f"{folder}/model/1", signatures=model.predict)
    see("contains_saved_model", True, tf.saved_model.contains_saved_model(f"{folder}/model/1"))
    predict = tf.saved_model.load(f"{folder}/model/1").signatures["serving_default"]
    said = predict(x=tf.constant([1.0, 2.0]))
    see("answers", ([3.0, 6.0], len(words)), (said["y"].numpy().tolist(), int(said["length"])))
    tf.io.gfile.remove(f"{folder}/words")
    said = tf.saved_model.load(f"{folder}/model/1").signatures["serving_default"](x=tf.constant([1.0]))
    see("answers without the asset's origin", len(words), int(said["length"]))


def keras_model(see: See, folder: str) -> None:
    """A model of Keras is saved, found by Keras, and gives the same answers."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
    given = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    answers = model(given).numpy().tolist()
    model.save(f"{folder}/model.keras")
    see("file", ["model.keras"], _names(folder))
    see("answers", answers, tf.keras.models.load_model(f"{folder}/model.keras")(given).numpy().tolist())


# Data sets and summaries ----------------------------------------------------------------------------------------------


def cached(see: See, folder: str) -> None:
    """A data set is kept in files while it is read, and comes from there afterwards."""
    numbers = tf.data.Dataset.range(1000)
    first = numbers.map(lambda k: 3 * k).cache(f"{folder}/cache")
    for epoch in ("first", "second"):
        see(f"{epoch} epoch", list(range(0, 3000, 3)), [int(k) for k in first.as_numpy_iterator()])
    again = numbers.map(lambda k: -k).cache(f"{folder}/cache")
    see("another data set of these files", list(range(0, 3000, 3)), [int(k) for k in again.as_numpy_iterator()])
    see("files that lock it", [], [name for name in _names(folder) if name.endswith(".lockfile")])


def snapshot(see: See, folder: str, compression: str) -> None:
    """A data set is written while it is read, compressed, and comes from there in the next epoch."""
    made: list[int] = []

    def thrice(k: int) -> int:
        made.append(k)
        return 3 * k

    numbers = tf.data.Dataset.range(1000).map(lambda k: tf.numpy_function(thrice, [k], tf.int64))
    kept = numbers.snapshot(f"{folder}/snapshot", compression=compression)
    for epoch in ("first", "second"):
        see(f"{epoch} epoch", list(range(0, 3000, 3)), sorted(int(k) for k in kept.as_numpy_iterator()))
        see(f"elements made after the {epoch} epoch", 1000, len(made))


def saved_dataset(see: See, folder: str, compression: str) -> None:
    """A data set is saved and loaded."""
    words = tf.data.Dataset.from_tensor_slices([b"%d" % k * 50 for k in range(2000)])
    words.save(f"{folder}/words", compression=compression or None)
    loaded = tf.data.Dataset.load(f"{folder}/words", compression=compression or None)
    see("elements", sorted(words.as_numpy_iterator()), sorted(loaded.as_numpy_iterator()))


def summaries(see: See, folder: str) -> None:
    """TensorBoard's loader follows a file of summaries to its end, again and again."""
    try:
        loaders: Any = importlib.import_module("tensorboard.backend.event_processing.event_file_loader")
    except ImportError as missing:
        raise LackingError(f"no TensorBoard is installed beside TensorFlow: {missing}") from missing
    writer = tf.summary.create_file_writer(folder)
    writer.flush()
    (name,) = _names(folder)
    loader = loaders.RawEventFileLoader(f"{folder}/{name}")
    for epoch in range(3):
        with writer.as_default():
            for step in range(10 * epoch, 10 * epoch + 10):
                tf.summary.scalar("loss", 1.0 / (1 + step), step=step)
        writer.flush()
        events = [tf.compat.v1.Event.FromString(event) for event in loader.Load()]
        steps = [event.step for event in events if event.summary.value]
        see(f"steps, {epoch + 1}. look", list(range(10 * epoch, 10 * epoch + 10)), steps)
    writer.close()


# Filesystems beside each other ----------------------------------------------------------------------------------------


def registered_again(see: See, folder: str, plugin: str) -> None:
    """The plugin is registered once more: that is refused, and the filesystem goes on."""
    if os.path.dirname(plugin) == os.path.dirname(tf.__file__):
        raise LackingError("no plugin registers TensorFlow's own filesystems")
    if not hasattr(ctypes.CDLL(plugin), "TF_InitPlugin"):
        raise LackingError("a filesystem that is a C++ class registers itself, when its library is loaded")
    tf.io.write_file(f"{folder}/before", "kept")
    before = sorted(tf.io.gfile.get_registered_schemes())
    again = _failure(lambda: tf.experimental.register_filesystem_plugin(plugin))
    see("registered again", "AlreadyExistsError", again)
    see("schemes", before, sorted(tf.io.gfile.get_registered_schemes()))
    there = (tf.io.gfile.exists(f"{folder}/before"), _whole(f"{folder}/before"))
    see("a file from before", (True, b"kept"), there)
    unknown = _failure(lambda: tf.io.read_file("tffs.no.such.scheme://somewhere"))
    see("a scheme that is not registered", "UnimplementedError", unknown)


def copied_across(see: See, folder: str) -> None:
    """Files are copied to TensorFlow's local files and to its memory, and back; they cannot be moved there."""
    gfile = tf.io.gfile
    for beside in _beside():
        for size in (0, 1, 131_072, 131_073, 1_000_000):
            content = os.urandom(size)
            here, there, back = (f"{where}/{size}" for where in (folder, beside, f"{folder}/back"))
            gfile.makedirs(f"{folder}/back")
            tf.io.write_file(here, content)
            gfile.copy(here, there)
            gfile.copy(there, back, overwrite=True)
            same = (content == _whole(there), content == _whole(back))
            see(f"{size} bytes to {_scheme(beside)}, and back", (True, True), same)
        if _scheme(beside) != _scheme(folder):
            moved = _failure(lambda where=beside: gfile.rename(f"{folder}/1", f"{where}/moved"))  # type: ignore[misc]
            see("moved to another filesystem", "UnimplementedError", moved)
            see("its origin", True, gfile.exists(f"{folder}/1"))


def beside_others(see: See, folder: str) -> None:
    """A name is used in the filesystem, in TensorFlow's local files and in its memory: each has its own."""
    places = [folder, *_beside()]
    os.chdir(places[1])
    tf.io.write_file("relative", "here")
    see("length", 4, tf.io.gfile.stat("relative").length)
    for k, place in enumerate(places):
        tf.io.write_file(f"{place}/name", f"content {k}")
    for k, place in enumerate(places):
        see(f"content in place {k}", f"content {k}".encode(), _whole(f"{place}/name"))
        length = tf.io.gfile.stat(f"{place}/name").length
        see(f"names in place {k}", (["name"], 9), ([name for name in _names(place) if name != "relative"], length))
    see("a name without a directory", b"here", _whole("relative"))
    tf.io.gfile.remove(f"{folder}/name")
    see("where it is left", [False, *[True] * len(_beside())], [tf.io.gfile.exists(f"{one}/name") for one in places])


_places: "list[str]" = []


def _beside() -> "list[str]":
    """Folders of TensorFlow's local files and of its memory, the same ones each time."""
    if not _places:
        local = tempfile.mkdtemp(prefix="tffs-")
        memory = f"ram://{os.path.basename(local)}"
        tf.io.gfile.makedirs(memory)
        _places.extend([local, memory])
    return _places


def _scheme(path: str) -> str:
    return path.partition("://")[0] if "://" in path else "local files"


def tidy() -> None:
    """Remove what programs left in other filesystems."""
    os.chdir("/")
    for place in _places:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.rmtree(place)
    _places.clear()


def _names(folder: str) -> "list[str]":
    """What is in a folder, in order; a filesystem may have a slash behind directories."""
    return sorted(name.rstrip("/") for name in tf.io.gfile.listdir(folder))


def _whole(path: str) -> bytes:
    content: bytes = tf.io.read_file(path).numpy()
    return content


def _failure(call: Callable[[], object]) -> str:
    """The class of the error of a call."""
    try:
        call()
    except tf.errors.OpError as error:
        return type(error).__name__
    return "no error"
