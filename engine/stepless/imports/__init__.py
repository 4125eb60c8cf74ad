"""Converts workflows of other tools to documents. Pure: takes an export, returns a document and findings for what was not
converted.

    sim    the exports of Sim (`stepless import sim`)
"""
