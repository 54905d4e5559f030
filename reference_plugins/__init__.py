"""Native reference plugins and fakes; this package only gives them a place in the import package."""
