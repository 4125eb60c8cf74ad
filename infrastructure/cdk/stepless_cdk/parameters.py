# ruff: noqa: E501
"""The parameters of the construct. Made from template.yaml by `make terraform`. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NotRequired, TypedDict


class Parameters(TypedDict):
    """Parameters of template.yaml, in snake case; those without a default are required."""

    auth: NotRequired[Literal["api-key", "iam", "jwt"]]
    """How callers of the API prove who they are: bearer API keys, IAM signatures or a JWT. Hooks, signed links, pages and /health stay open."""
    api_key_hashes: NotRequired[str]
    """sha256:<hex> of every accepted API key, comma-separated. Empty: every request is refused."""
    jwt_issuer: NotRequired[str]
    """With Auth jwt: the issuer's URL, as in the claim iss."""
    jwt_audience: NotRequired[Sequence[str]]
    """With Auth jwt: accepted audiences, comma-separated."""
    jwt_roles_claim: NotRequired[str]
    """With Auth jwt: the claim that holds the caller's groups (cognito:groups, roles, https://example.com/roles, realm_access.roles); several are separated by commas. Empty: no caller has a role, every request is refused."""
    jwt_roles: NotRequired[str]
    """With Auth jwt: roles by group, as group=role with exact names, comma-separated. The roles: read, run, edit, approve, admin."""
    iam_roles: NotRequired[str]
    """With Auth iam: roles by principal, as arn:aws:iam::123456789012:role/NAME=role, comma-separated; * stands for any characters of a name. Empty: no caller has a role, every request is refused."""
    public_url: NotRequired[str]
    """Base URL of the links in responses, for your own domain. Empty: the address of the HTTP API."""
    cors_origins: NotRequired[str]
    """Origins whose pages may use the API from a browser, space-separated. Empty: none."""
    console: NotRequired[Literal["yes", "no"]]
    """Whether workflows can be edited in the console: the drafts and their WebSocket API are deployed. Its pages of runs, approvals, errors and workflows always are."""
    console_client_id: NotRequired[str]
    """With Auth jwt: the id of the public client with which people sign in to the console at the issuer (authorization code, PKCE). Empty: the console asks for a token."""
    console_scope: NotRequired[str]
    """With ConsoleClientId: the scopes that the console asks for, space-separated. With offline_access or Cognito, a login is renewed as long as the page is open."""
    with_cognito: NotRequired[Literal["yes", "no"]]
    """With Auth jwt: makes an Amazon Cognito user pool in which people sign in. JwtIssuer, JwtAudience and ConsoleClientId stay empty."""
    function_modules: NotRequired[str]
    """Python modules that register functions, comma-separated. They are in the layer of your functions."""
    runner_policies: NotRequired[Sequence[str]]
    """ARNs of managed policies for the services that your nodes call, comma-separated."""
    notify_from: NotRequired[str]
    """The sender address of mail to approvers, verified in SES. Empty: no mail is sent."""
    company_name: NotRequired[str]
    """Whose name the pages and the mail for approvers have. Empty: none."""
    company_logo: NotRequired[str]
    """The https address of an image that the pages and the mail for approvers show. Empty: none."""
    company_color: NotRequired[str]
    """The colour of the first button on pages and in mail for approvers, like #0b5cad. Empty: blue."""
    notify_topic: NotRequired[str]
    """ARN of the SNS topic that `notify` may publish to. Empty: none."""
    run_events_bus: NotRequired[str]
    """Name of the EventBridge bus that receives the events of runs (`default`, or one of yours). Empty: they are not sent."""
    on_failure_notify: NotRequired[str]
    """Who is notified of failed runs, space-separated: ${NAME} (a secret with a URL of Slack, Teams or a webhook), mailto:address (needs NotifyFrom), the ARN of NotifyTopic. Empty: those whom a workflow names."""
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
    api_rate: NotRequired[int]
    """Requests per second that the API accepts; more are answered with 429."""
    api_burst: NotRequired[int]
    """Requests above ApiRate that the API accepts in a burst."""
    index_shards: NotRequired[int]
    """Partitions of each index of the table. The stored number is only ever raised: a smaller value has no effect."""
    runner_pollers: NotRequired[str]
    """Provisioned pollers of the runner's queue, at least 2 (each is billed). 0: the pollers scale by themselves."""
    runner_max_pollers: NotRequired[int]
    """With RunnerPollers: the most pollers, 2 to 2000."""
    sweep_rate: NotRequired[int]
    """Overdue runs for which the sweeper sends a hint per minute. Above 1000, it divides the work into parallel parts."""
    alarm_topic: NotRequired[str]
    """ARN of the SNS topic for alarms. Empty: alarms are shown in CloudWatch only."""
    due_age_alarm_ms: NotRequired[int]
    """Milliseconds that a run may be due without being served before an alarm is raised."""
    queue_age_alarm_s: NotRequired[int]
    """Seconds that a hint may wait in the runner's queue before an alarm is raised."""
    failed_runs_alarm: NotRequired[int]
    """Runs that fail, or time out, within five minutes before an alarm is raised."""
    refused_requests_alarm: NotRequired[int]
    """Requests that the API answers with 429 within five minutes before an alarm is raised."""
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
    kms_key: NotRequired[str]
    """ARN of a KMS key of your own for the table, the bucket, the queues and the signing keys. Empty: keys of AWS."""
    permissions_boundary: NotRequired[str]
    """ARN of a managed policy that bounds every role of the stack. Empty: none."""
    subnet_ids: NotRequired[Sequence[str]]
    """Subnets in which the functions run, except the sandbox, comma-separated. They need a way to AWS. Empty: no VPC."""
    security_group_ids: NotRequired[Sequence[str]]
    """Security groups of the functions in SubnetIds, comma-separated."""
    log_level: NotRequired[Literal["DEBUG", "INFO", "WARNING", "ERROR"]]
    log_retention_days: NotRequired[Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 731, 1827, 3653]]
    tracing: NotRequired[Literal["on", "off"]]
    """AWS X-Ray tracing of every invocation and of its requests to AWS."""
    snap_start: NotRequired[Literal["on", "off"]]
    """Start the functions runner, api and trigger from snapshots of their initialization. AWS bills the snapshots and each restore."""
    otel_endpoint: NotRequired[str]
    """URL of an OpenTelemetry collector (OTLP over HTTP) for spans and metrics of runs. Empty: none are exported."""
    otel_resource_attributes: NotRequired[str]
    """With OtelEndpoint: attributes of every span and metric, as key=value,key=value (deployment.environment.name=prod)."""
    release: NotRequired[str]
    """Set by `make deploy`. With a new value, a version of every function is published: changed parameters alone do not do that."""


NAMES: Final = {
    "auth": "Auth",
    "api_key_hashes": "ApiKeyHashes",
    "jwt_issuer": "JwtIssuer",
    "jwt_audience": "JwtAudience",
    "jwt_roles_claim": "JwtRolesClaim",
    "jwt_roles": "JwtRoles",
    "iam_roles": "IamRoles",
    "public_url": "PublicUrl",
    "cors_origins": "CorsOrigins",
    "console": "Console",
    "console_client_id": "ConsoleClientId",
    "console_scope": "ConsoleScope",
    "with_cognito": "WithCognito",
    "function_modules": "FunctionModules",
    "runner_policies": "RunnerPolicies",
    "notify_from": "NotifyFrom",
    "company_name": "CompanyName",
    "company_logo": "CompanyLogo",
    "company_color": "CompanyColor",
    "notify_topic": "NotifyTopic",
    "run_events_bus": "RunEventsBus",
    "on_failure_notify": "OnFailureNotify",
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
    "api_rate": "ApiRate",
    "api_burst": "ApiBurst",
    "index_shards": "IndexShards",
    "runner_pollers": "RunnerPollers",
    "runner_max_pollers": "RunnerMaxPollers",
    "sweep_rate": "SweepRate",
    "alarm_topic": "AlarmTopic",
    "due_age_alarm_ms": "DueAgeAlarmMs",
    "queue_age_alarm_s": "QueueAgeAlarmS",
    "failed_runs_alarm": "FailedRunsAlarm",
    "refused_requests_alarm": "RefusedRequestsAlarm",
    "secrets_source": "SecretsSource",
    "restored_table": "RestoredTable",
    "restored_bucket": "RestoredBucket",
    "restored_signing_keys": "RestoredSigningKeys",
    "retention": "Retention",
    "kms_key": "KmsKey",
    "permissions_boundary": "PermissionsBoundary",
    "subnet_ids": "SubnetIds",
    "security_group_ids": "SecurityGroupIds",
    "log_level": "LogLevel",
    "log_retention_days": "LogRetentionDays",
    "tracing": "Tracing",
    "snap_start": "SnapStart",
    "otel_endpoint": "OtelEndpoint",
    "otel_resource_attributes": "OtelResourceAttributes",
    "release": "Release",
}
"""The name of each parameter in template.yaml."""
