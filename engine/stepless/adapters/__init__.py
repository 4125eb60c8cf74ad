"""The ports fulfilled, a folder per medium. Nothing about a run is decided here; foreign errors end at this edge."""
