"""What there is to say of a target beside its report."""

import textwrap
from collections.abc import Sequence

from ..harness.launchers.sandbox import has_network, is_in_one
from ..reports.escape import printable
from ..suite.engine.plugin_facts import PluginFacts
from ..suite.engine.target import Target

#: What a user can do about a plugin that does not load.
WAY_OUT = (
    "A library that the plugin lacks can be given with --env=LD_PRELOAD=/path/of/library.so, or its folder with"
    " --env=LD_LIBRARY_PATH=/path. What needs C++ symbols of TensorFlow loads in some of its releases only, with"
    " --runtime='tensorflow-cpu==…': tffs-conformance abi names them."
)


def remarks(target: Target, facts: PluginFacts | None, left: Sequence[str]) -> list[str]:
    """The lines. `left` are the URIs that the plugin could not delete."""
    lines = []
    if facts is not None and (facts.unusable or "").startswith("blocked by dlopen"):
        lines += textwrap.wrap(WAY_OUT, 100, break_on_hyphens=False)
    if is_in_one(target.host_command):
        needed = (
            "" if has_network(target.host_command) else " without network; where a plugin needs it: --sandbox=network"
        )
        lines.append(f"in a sandbox{needed}")
    if target.keep and target.root:
        lines.append(f"kept, as --keep says: {printable(target.root)}")
    if left:
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        named = ", ".join(map(printable, left[:3]))
        lines.append(f"Left behind, because the plugin could not delete it: {named}{more}")
    return lines
