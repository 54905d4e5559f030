"""The site: published reports, every clause, and the guides of a clone, in one book with one search.

`pages.py` makes the pages of the reports, `guides.py` finds those that people wrote, `book.py` has Sphinx bind both.
Texts in a report may be anything that a plugin said; `reports/forms/page.py` makes them safe to show.
"""
