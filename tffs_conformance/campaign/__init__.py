"""Campaigns: very many tasks spread over many machines by Dask, their results kept in a store.

`plan` is what a person asks for, `tasks` what that comes to. `perform` does a task where a worker runs, `store` keeps
what came of it. `engine` is Dask, `driver` hands out what is left. `status` and `report` need nothing but the store.
"""
