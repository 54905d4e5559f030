"""What TensorFlow says to plugins: reads lines of JSON `[plugin, fault]`, prints `[plugin, fault, code, message]`.

Each is registered in a process of its own, so that none is in the way of the next. Where that process ended, the code
is null and the message says how.
"""

import json
import os
import signal
import sys
from typing import Any

import tensorflow as tf

FAULT = "TFFS_FAULT"


def answer(plugin: str) -> tuple[int | None, str]:
    try:
        tf.experimental.register_filesystem_plugin(plugin)
    except tf.errors.OpError as error:
        return error.error_code, error.message
    except RuntimeError as error:  # the binding's, for an exception that left the plugin
        return None, f"an exception: {error}"
    return 0, ""


def apart(plugin: str, fault: str) -> tuple[int | None, str]:
    """What `answer` gives in a fork."""
    back, forth = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os.environ[FAULT] = fault
        if not fault:
            del os.environ[FAULT]
        os.write(forth, json.dumps(answer(plugin)).encode())
        os._exit(0)
    os.close(forth)
    with os.fdopen(back, "rb") as pipe:
        written = pipe.read()
    _, status = os.waitpid(child, 0)
    if not written:
        ended = os.waitstatus_to_exitcode(status)
        return None, f"exit({ended})" if ended >= 0 else signal.Signals(-ended).name
    given: Any = json.loads(written)
    return given[0], given[1]


for line in sys.stdin:
    plugin, fault = json.loads(line)
    print(json.dumps([plugin, fault, *apart(plugin, fault)]), flush=True)
