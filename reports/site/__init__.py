"""The static site of published reports: which plugin keeps which class and which clause. Each page needs nothing else.

Texts in a report may be anything that a plugin said; `reports/forms/page.py` makes them safe to show.
"""
