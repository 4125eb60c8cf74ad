"""Language models over the HTTP interface that OpenAI published and many servers speak: chat completions."""
