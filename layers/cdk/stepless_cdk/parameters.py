# ruff: noqa: E501
"""The parameters of the construct. Made from template.yaml by `make terraform`. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NotRequired, TypedDict


class Parameters(TypedDict):
    """Parameters of template.yaml, in snake case; those without a default are required."""

    auth: NotRequired[Literal["api-key", "iam", "jwt"]]
    """Who may use the API (hooks, signed links and /health stay open): bearer API keys, IAM signatures or a JWT."""
    api_key_hashes: NotRequired[str]
    """sha256:<hex> of every accepted API key, comma-separated. Empty: every request is refused."""
    jwt_issuer: NotRequired[str]
    """With Auth jwt: the issuer's URL."""
    jwt_audience: NotRequired[Sequence[str]]
    """With Auth jwt: accepted audiences, comma-separated."""
    public_url: NotRequired[str]
    """Base URL of the links in responses, for your own domain. Empty: the address of the HTTP API."""
    cors_origins: NotRequired[str]
    """Origins whose pages may use the API from a browser, space-separated. Empty: none."""
    function_modules: NotRequired[str]
    """Python modules that register functions, comma-separated. They are in the layer of your functions."""
    runner_policies: NotRequired[Sequence[str]]
    """ARNs of managed policies for the services that your nodes call, comma-separated."""
    notify_from: NotRequired[str]
    """The sender address of mail to approvers, verified in SES. Empty: no mail is sent."""
    notify_topic: NotRequired[str]
    """ARN of the SNS topic that `notify` may publish to. Empty: none."""
    event_sources: NotRequired[Sequence[str]]
    """Sources of EventBridge events that may start runs (`aws.s3`, `shop.orders`), comma-separated. Empty: none."""
    event_bus: NotRequired[str]
    """Name of the event bus of these sources."""
    event_queues: NotRequired[Sequence[str]]
    """ARNs of your own SQS queues whose messages may start runs, comma-separated."""
    sandbox_memory: NotRequired[int]
    """MB of the function that runs author code: the largest `memory_mb` plus 128."""
    runner_memory: NotRequired[int]
    """MB of the runner function. 1769 MB is one vCPU."""
    runner_timeout: NotRequired[int]
    """Timeout of the runner function in seconds. A workflow with a node whose timeout plus eight seconds is longer is refused."""
    queue_visibility: NotRequired[str]
    """Seconds (35 to 43200) until the message of a failed invocation is delivered again. At least RunnerTimeout plus a cold start and a lease. Empty: 180 with a RunnerTimeout of 120, otherwise 960, which fits every RunnerTimeout."""
    max_receives: NotRequired[int]
    """How often a message is delivered before it becomes a dead letter."""
    runner_batch_size: NotRequired[int]
    """Number of runs that one invocation serves concurrently."""
    runner_concurrency: NotRequired[str]
    """Reserved concurrency of the runner, at least 2. 0: none is reserved, the limit of the account applies."""
    alarm_topic: NotRequired[str]
    """ARN of the SNS topic for alarms. Empty: alarms are shown in CloudWatch only."""
    due_age_alarm_ms: NotRequired[int]
    """Milliseconds that a run may be due without being served before an alarm is raised."""
    secrets_source: Literal["ssm", "secretsmanager"]
    """Where the secrets of workflows are stored: Parameter Store (ssm) or Secrets Manager, each under /{stack}/NAME."""
    restored_table: str
    """Name of a table used instead of the stack's own: one restored from a backup, or that of a deleted stack. Empty: the stack's own."""
    restored_bucket: str
    """Name of a bucket used instead of the stack's own. Empty: the stack's own."""
    restored_signing_keys: str
    """ARN of a secret with signing keys, used instead of the stack's own. Empty: the stack's own."""
    retention: NotRequired[str]
    """How long runs are kept after their end, 1d to 3650d, where their workflow does not say. Empty: for ever."""
    log_level: NotRequired[Literal["DEBUG", "INFO", "WARNING", "ERROR"]]
    log_retention_days: NotRequired[Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 731, 1827, 3653]]
    tracing: NotRequired[Literal["on", "off"]]
    """AWS X-Ray tracing of every invocation and of its requests to AWS."""


NAMES: Final = {
    "auth": "Auth",
    "api_key_hashes": "ApiKeyHashes",
    "jwt_issuer": "JwtIssuer",
    "jwt_audience": "JwtAudience",
    "public_url": "PublicUrl",
    "cors_origins": "CorsOrigins",
    "function_modules": "FunctionModules",
    "runner_policies": "RunnerPolicies",
    "notify_from": "NotifyFrom",
    "notify_topic": "NotifyTopic",
    "event_sources": "EventSources",
    "event_bus": "EventBus",
    "event_queues": "EventQueues",
    "sandbox_memory": "SandboxMemory",
    "runner_memory": "RunnerMemory",
    "runner_timeout": "RunnerTimeout",
    "queue_visibility": "QueueVisibility",
    "max_receives": "MaxReceives",
    "runner_batch_size": "RunnerBatchSize",
    "runner_concurrency": "RunnerConcurrency",
    "alarm_topic": "AlarmTopic",
    "due_age_alarm_ms": "DueAgeAlarmMs",
    "secrets_source": "SecretsSource",
    "restored_table": "RestoredTable",
    "restored_bucket": "RestoredBucket",
    "restored_signing_keys": "RestoredSigningKeys",
    "retention": "Retention",
    "log_level": "LogLevel",
    "log_retention_days": "LogRetentionDays",
    "tracing": "Tracing",
}
"""The name of each parameter in template.yaml."""
