"""Calls language models behind the chat completions HTTP API, which OpenAI published and many other servers implement."""
