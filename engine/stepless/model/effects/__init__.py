"""Defines what the code of effectful kinds receives and exchanges with the engine."""
