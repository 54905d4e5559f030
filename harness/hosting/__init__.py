"""A host from this side: it is started, loads the plugin, answers, is looked at, and ends."""
