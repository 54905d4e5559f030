"""How a case runs: the case and its end, its checks, the workbench, and how cases are collected."""
