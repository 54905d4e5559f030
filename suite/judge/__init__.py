"""The judge: from what was seen to verdicts. Pure: no process, no clock, no pytest.

`checks` gives a check its verdict, `cases` a case, `targets` a class and a target. `waivers`, `compare` and `gate` say
what is accepted and what is new; `exit_code` what that comes to.
"""
