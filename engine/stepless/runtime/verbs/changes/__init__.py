"""Changes runs that exist: answers, messages, holds, time skips, erasure, one verb for many runs."""
