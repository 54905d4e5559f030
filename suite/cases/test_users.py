"""What users of TensorFlow do, by TensorFlow's own readers and writers: only where ops go through it."""

import pytest

from ..engine.by_tensorflow import is_killed_in, performs
from ..engine.case import Case
from ..engine.marks import clauses, full

#: How long a writer goes on before its process is ended, in seconds.
SAVES = 1.0


@clauses("scenarios.files-by-gfile")
def test_files(case: Case) -> None:
    """Text is written, appended, read by lines, moved, copied, walked and deleted through tf.io.gfile."""
    performs(case, "scenarios.files-by-gfile", "files")


@pytest.mark.parametrize("compression", [pytest.param("", id="plain"), "GZIP", "ZLIB"])
@clauses("scenarios.streams-by-tensorflow")
def test_streams(case: Case, compression: str) -> None:
    """Lines and records of one length are read with buffers of three sizes."""
    performs(case, "scenarios.streams-by-tensorflow", "streams", compression)


@pytest.mark.parametrize("compression", [pytest.param("", id="plain"), "GZIP", "ZLIB"])
@clauses("scenarios.records-by-tensorflow")
def test_records(case: Case, compression: str) -> None:
    """TFRecordWriter writes records of 0 to 300,000 bytes, TFRecordDataset reads them."""
    performs(case, "scenarios.records-by-tensorflow", "records", compression)


@clauses("scenarios.shards-are-interleaved")
def test_shards(case: Case) -> None:
    """Eight shards are found by list_files, and interleaved."""
    performs(case, "scenarios.shards-are-interleaved", "shards")


@full
@clauses("scenarios.many-readers")
def test_many_readers(case: Case) -> None:
    """Sixteen threads of tf.data read 64 files four times."""
    performs(case, "scenarios.many-readers", "many_readers")


@clauses("scenarios.checkpoints-are-managed")
def test_checkpoints(case: Case) -> None:
    """CheckpointManager saves five checkpoints and keeps two; both are restored."""
    performs(case, "scenarios.checkpoints-are-managed", "checkpoints")


@clauses("scenarios.shards-are-merged")
def test_sharded_checkpoint(case: Case) -> None:
    """Three parts of a checkpoint are saved, merged and restored."""
    performs(case, "scenarios.shards-are-merged", "sharded_checkpoint")


@full
@clauses("scenarios.killed-writer-leaves-a-checkpoint")
def test_killed_writer(case: Case) -> None:
    """A process that saves checkpoints is killed, three times, and another one restores the latest."""
    performs(case, "scenarios.killed-writer-leaves-a-checkpoint", "save_once")
    for share in (0.2, 0.6, 1.0):
        is_killed_in(case, "save_on_and_on", SAVES * share)
        performs(case, "scenarios.killed-writer-leaves-a-checkpoint", "restore_latest", alone=False)


@clauses("scenarios.model-is-served")
def test_model(case: Case) -> None:
    """A SavedModel with an asset is saved, loaded and asked."""
    performs(case, "scenarios.model-is-served", "saved_model")


@full
@clauses("scenarios.keras-model-is-kept")
def test_keras_model(case: Case) -> None:
    """A model of Keras is saved in one file and loaded."""
    performs(case, "scenarios.keras-model-is-kept", "keras_model")


@clauses("scenarios.data-set-is-cached")
def test_cache(case: Case) -> None:
    """A data set is cached in files, and read from there."""
    performs(case, "scenarios.data-set-is-cached", "cached")


@pytest.mark.parametrize("compression", [pytest.param("NONE", id="plain"), "GZIP", "SNAPPY"])
@clauses("scenarios.data-set-is-kept")
def test_snapshot(case: Case, compression: str) -> None:
    """A data set is written while it is read, and comes from there in the next epoch."""
    performs(case, "scenarios.data-set-is-kept", "snapshot", compression)


@pytest.mark.parametrize("compression", [pytest.param("", id="plain"), "GZIP"])
@clauses("scenarios.data-set-is-kept")
def test_saved_data_set(case: Case, compression: str) -> None:
    """A data set is saved and loaded."""
    performs(case, "scenarios.data-set-is-kept", "saved_dataset", compression)


@full
@clauses("scenarios.summaries-are-followed")
def test_summaries(case: Case) -> None:
    """TensorBoard's loader reads a file of summaries to its end, three times, while it grows."""
    performs(case, "scenarios.summaries-are-followed", "summaries")


@clauses("scenarios.registered-once")
def test_registered_again(case: Case) -> None:
    """The plugin is registered again, and a scheme is used that nobody registered."""
    performs(case, "scenarios.registered-once", "registered_again", str(case.bench.target.plugin))


@clauses("scenarios.copied-across-filesystems")
def test_copied_across(case: Case) -> None:
    """Files of five sizes are copied to TensorFlow's local files and to its memory, and back; they cannot be moved."""
    performs(case, "scenarios.copied-across-filesystems", "copied_across")


@clauses("scenarios.beside-other-filesystems")
def test_beside_others(case: Case) -> None:
    """One name is used in the filesystem, in TensorFlow's local files and in its memory."""
    performs(case, "scenarios.beside-other-filesystems", "beside_others")
