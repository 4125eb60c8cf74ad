"""Workflows of other tools, read into documents. Pure: an export in, a document and what could not be carried over out.

    sim    the exports of Sim (`stepless import sim`)
"""
