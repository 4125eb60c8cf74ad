"""Exports spans and metrics in OpenTelemetry's protocol, OTLP over HTTP."""
