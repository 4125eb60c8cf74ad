# Made from template.yaml by `make terraform`. Do not edit.

variable "auth" {
  description = "How callers of the API prove who they are: bearer API keys, IAM signatures or a JWT. Hooks, signed links, pages and /health stay open."
  type        = string
  default     = "api-key"
  validation {
    condition     = contains(["api-key", "iam", "jwt"], var.auth)
    error_message = "auth is not one of the allowed values."
  }
}

variable "api_key_hashes" {
  description = "sha256:<hex> of every accepted API key, comma-separated. Empty: every request is refused."
  type        = string
  default     = ""
  sensitive   = true
}

variable "jwt_issuer" {
  description = "With Auth jwt: the issuer's URL, as in the claim iss."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(https://[^ ,]+)?)$", var.jwt_issuer))
    error_message = "jwt_issuer does not have the required form."
  }
}

variable "jwt_audience" {
  description = "With Auth jwt: accepted audiences, comma-separated."
  type        = list(string)
  default     = []
}

variable "jwt_roles_claim" {
  description = "With Auth jwt: the claim that holds the caller's groups (cognito:groups, roles, https://example.com/roles, realm_access.roles); several are separated by commas. Empty: no caller has a role, every request is refused."
  type        = string
  default     = "cognito:groups"
  validation {
    condition     = can(regex("^(?:((^|,) *[^, \\x00-\\x1f\\x7f]+ *)*)$", var.jwt_roles_claim)) && !startswith(var.jwt_roles_claim, ",")
    error_message = "jwt_roles_claim does not have the required form."
  }
}

variable "jwt_roles" {
  description = "With Auth jwt: roles by group, as group=role with exact names, comma-separated. The roles: read, run, edit, approve, admin."
  type        = string
  default     = "stepless-read=read,stepless-run=run,stepless-edit=edit,stepless-approve=approve,stepless-admin=admin"
  validation {
    condition     = can(regex("^(?:((^|,) *[^,=* \\x00-\\x1f\\x7f](?:[^,=*\\x00-\\x1f\\x7f]*[^,=* \\x00-\\x1f\\x7f])? *= *(read|run|edit|approve|admin) *)*)$", var.jwt_roles)) && !startswith(var.jwt_roles, ",")
    error_message = "jwt_roles does not have the required form."
  }
}

variable "iam_roles" {
  description = "With Auth iam: roles by principal, as arn:aws:iam::123456789012:role/NAME=role, comma-separated; * stands for any characters of a name. Empty: no caller has a role, every request is refused."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:((^|,) *arn:aws[a-z-]*:(iam::[0-9]{12}:(root|user(/[A-Za-z0-9_+=.@*-]+)+|role/[A-Za-z0-9_+=.@*-]+|role(/[A-Za-z0-9_+=.@-]+){2,})|sts::[0-9]{12}:(assumed-role/[A-Za-z0-9_+=.@*-]+/[*]|assumed-role/[A-Za-z0-9_+=.@-]+/[A-Za-z0-9_+=.@*-]+|federated-user/[A-Za-z0-9_+=.@*-]+)) *= *(read|run|edit|approve|admin) *)*)$", var.iam_roles)) && !startswith(var.iam_roles, ",")
    error_message = "iam_roles does not have the required form."
  }
}

variable "public_url" {
  description = "Base URL of the links in responses, for your own domain. Empty: the address of the HTTP API."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(https?://.*[^/])?)$", var.public_url))
    error_message = "public_url does not have the required form."
  }
}

variable "cors_origins" {
  description = "Origins whose pages may use the API from a browser, space-separated. Empty: none."
  type        = string
  default     = ""
}

variable "console" {
  description = "Whether the console, the drafts and their WebSocket API are deployed."
  type        = string
  default     = "no"
  validation {
    condition     = contains(["yes", "no"], var.console)
    error_message = "console is not one of the allowed values."
  }
}

variable "console_client_id" {
  description = "With Console yes and Auth jwt: the id of the public client with which people sign in at the issuer (authorization code, PKCE)."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:[A-Za-z0-9._~:@/-]*)$", var.console_client_id))
    error_message = "console_client_id does not have the required form."
  }
}

variable "console_scope" {
  description = "With ConsoleClientId: the scopes that the console asks for, space-separated. With offline_access or Cognito, a login is renewed as long as the page is open."
  type        = string
  default     = "openid"
  validation {
    condition     = can(regex("^(?:[A-Za-z0-9._~:/-]+( [A-Za-z0-9._~:/-]+)*)$", var.console_scope))
    error_message = "console_scope does not have the required form."
  }
}

variable "with_cognito" {
  description = "With Console yes and Auth jwt: makes an Amazon Cognito user pool in which people sign in. JwtIssuer, JwtAudience and ConsoleClientId stay empty."
  type        = string
  default     = "no"
  validation {
    condition     = contains(["yes", "no"], var.with_cognito)
    error_message = "with_cognito is not one of the allowed values."
  }
}

variable "function_modules" {
  description = "Python modules that register functions, comma-separated. They are in the layer of your functions."
  type        = string
  default     = "hello"
}

variable "runner_policies" {
  description = "ARNs of managed policies for the services that your nodes call, comma-separated."
  type        = list(string)
  default     = []
}

variable "notify_from" {
  description = "The sender address of mail to approvers, verified in SES. Empty: no mail is sent."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:([^@ <>]+@[^@ <>]+)?)$", var.notify_from))
    error_message = "notify_from does not have the required form."
  }
}

variable "notify_topic" {
  description = "ARN of the SNS topic that `notify` may publish to. Empty: none."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(arn:[a-z-]+:sns:.+)?)$", var.notify_topic))
    error_message = "notify_topic does not have the required form."
  }
}

variable "run_events_bus" {
  description = "Name of the EventBridge bus that receives the events of runs (`default`, or one of yours). Empty: they are not sent."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:[A-Za-z0-9._/-]{0,256})$", var.run_events_bus))
    error_message = "run_events_bus does not have the required form."
  }
}

variable "on_failure_notify" {
  description = "Who is notified of failed runs, space-separated: $${NAME} (a secret with a URL of Slack, Teams or a webhook), mailto:address (needs NotifyFrom), the ARN of NotifyTopic. Empty: those whom a workflow names."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:((((slack|teams|webhook):)?\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}|mailto:[^@ ]+@[^@ ]+|arn:[a-z-]+:sns:[^ ]+)( |$))*)$", var.on_failure_notify))
    error_message = "on_failure_notify does not have the required form."
  }
}

variable "event_sources" {
  description = "Sources of EventBridge events that may start runs (`aws.s3`, `shop.orders`), comma-separated. Empty: none."
  type        = list(string)
  default     = []
}

variable "event_bus" {
  description = "Name of the event bus of these sources."
  type        = string
  default     = "default"
}

variable "event_queues" {
  description = "ARNs of your own SQS queues whose messages may start runs, comma-separated."
  type        = list(string)
  default     = []
}

variable "sandbox_memory" {
  description = "MB of the function that runs author code: the largest `memory_mb` plus 128."
  type        = number
  default     = 512
  validation {
    condition     = var.sandbox_memory >= 256
    error_message = "sandbox_memory is less than 256."
  }
  validation {
    condition     = var.sandbox_memory <= 3008
    error_message = "sandbox_memory is more than 3008."
  }
}

variable "runner_memory" {
  description = "MB of the runner function. 1769 MB is one vCPU."
  type        = number
  default     = 512
  validation {
    condition     = var.runner_memory >= 256
    error_message = "runner_memory is less than 256."
  }
  validation {
    condition     = var.runner_memory <= 10240
    error_message = "runner_memory is more than 10240."
  }
}

variable "runner_timeout" {
  description = "Timeout of the runner function in seconds. A workflow with a node whose timeout plus eight seconds is longer is refused."
  type        = number
  default     = 120
  validation {
    condition     = var.runner_timeout >= 10
    error_message = "runner_timeout is less than 10."
  }
  validation {
    condition     = var.runner_timeout <= 900
    error_message = "runner_timeout is more than 900."
  }
}

variable "queue_visibility" {
  description = "Seconds (35 to 43200) until the message of a failed invocation is delivered again. At least RunnerTimeout plus a cold start and a lease. Empty: 180 with a RunnerTimeout of 120, otherwise 960, which fits every RunnerTimeout."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(3[5-9]|[4-9][0-9]|[1-9][0-9]{2,3}|[1-3][0-9]{4}|4[0-2][0-9]{3}|43[01][0-9]{2}|43200)?)$", var.queue_visibility))
    error_message = "queue_visibility does not have the required form."
  }
}

variable "max_receives" {
  description = "How often a message is delivered before it becomes a dead letter."
  type        = number
  default     = 5
  validation {
    condition     = var.max_receives >= 5
    error_message = "max_receives is less than 5."
  }
  validation {
    condition     = var.max_receives <= 1000
    error_message = "max_receives is more than 1000."
  }
}

variable "runner_batch_size" {
  description = "Number of runs that one invocation serves concurrently."
  type        = number
  default     = 1
  validation {
    condition     = var.runner_batch_size >= 1
    error_message = "runner_batch_size is less than 1."
  }
  validation {
    condition     = var.runner_batch_size <= 10
    error_message = "runner_batch_size is more than 10."
  }
}

variable "runner_concurrency" {
  description = "Reserved concurrency of the runner, at least 2. 0: none is reserved, the limit of the account applies."
  type        = string
  default     = "0"
  validation {
    condition     = can(regex("^(?:0|[2-9]|[1-9][0-9]{1,2})$", var.runner_concurrency))
    error_message = "runner_concurrency does not have the required form."
  }
}

variable "api_rate" {
  description = "Requests per second that the API accepts; more are answered with 429."
  type        = number
  default     = 1000
  validation {
    condition     = var.api_rate >= 1
    error_message = "api_rate is less than 1."
  }
}

variable "api_burst" {
  description = "Requests above ApiRate that the API accepts in a burst."
  type        = number
  default     = 500
  validation {
    condition     = var.api_burst >= 1
    error_message = "api_burst is less than 1."
  }
}

variable "index_shards" {
  description = "Partitions of each index of the table. The stored number is only ever raised: a smaller value has no effect."
  type        = number
  default     = 8
  validation {
    condition     = var.index_shards >= 8
    error_message = "index_shards is less than 8."
  }
  validation {
    condition     = var.index_shards <= 200
    error_message = "index_shards is more than 200."
  }
}

variable "runner_pollers" {
  description = "Provisioned pollers of the runner's queue, at least 2 (each is billed). 0: the pollers scale by themselves."
  type        = string
  default     = "0"
  validation {
    condition     = can(regex("^(?:0|[2-9]|[1-9][0-9]|1[0-9]{2}|200)$", var.runner_pollers))
    error_message = "runner_pollers does not have the required form."
  }
}

variable "runner_max_pollers" {
  description = "With RunnerPollers: the most pollers, 2 to 2000."
  type        = number
  default     = 200
  validation {
    condition     = var.runner_max_pollers >= 2
    error_message = "runner_max_pollers is less than 2."
  }
  validation {
    condition     = var.runner_max_pollers <= 2000
    error_message = "runner_max_pollers is more than 2000."
  }
}

variable "sweep_rate" {
  description = "Overdue runs for which the sweeper sends a hint per minute. Above 1000, it divides the work into parallel parts."
  type        = number
  default     = 100000
  validation {
    condition     = var.sweep_rate >= 1000
    error_message = "sweep_rate is less than 1000."
  }
  validation {
    condition     = var.sweep_rate <= 1000000
    error_message = "sweep_rate is more than 1000000."
  }
}

variable "alarm_topic" {
  description = "ARN of the SNS topic for alarms. Empty: alarms are shown in CloudWatch only."
  type        = string
  default     = ""
}

variable "due_age_alarm_ms" {
  description = "Milliseconds that a run may be due without being served before an alarm is raised."
  type        = number
  default     = 300000
  validation {
    condition     = var.due_age_alarm_ms >= 60000
    error_message = "due_age_alarm_ms is less than 60000."
  }
}

variable "queue_age_alarm_s" {
  description = "Seconds that a hint may wait in the runner's queue before an alarm is raised."
  type        = number
  default     = 300
  validation {
    condition     = var.queue_age_alarm_s >= 60
    error_message = "queue_age_alarm_s is less than 60."
  }
}

variable "failed_runs_alarm" {
  description = "Runs that fail, or time out, within five minutes before an alarm is raised."
  type        = number
  default     = 10
  validation {
    condition     = var.failed_runs_alarm >= 1
    error_message = "failed_runs_alarm is less than 1."
  }
}

variable "refused_requests_alarm" {
  description = "Requests that the API answers with 429 within five minutes before an alarm is raised."
  type        = number
  default     = 100
  validation {
    condition     = var.refused_requests_alarm >= 1
    error_message = "refused_requests_alarm is less than 1."
  }
}

variable "secrets_source" {
  description = "Where the secrets of workflows are stored: Parameter Store (ssm) or Secrets Manager, each under /{stack}/NAME."
  type        = string
  validation {
    condition     = contains(["ssm", "secretsmanager"], var.secrets_source)
    error_message = "secrets_source is not one of the allowed values."
  }
}

variable "restored_table" {
  description = "Name of a table used instead of the stack's own: one restored from a backup, or that of a deleted stack. Empty: the stack's own."
  type        = string
}

variable "restored_bucket" {
  description = "Name of a bucket used instead of the stack's own. Empty: the stack's own."
  type        = string
}

variable "restored_signing_keys" {
  description = "ARN of a secret with signing keys, used instead of the stack's own. Empty: the stack's own."
  type        = string
  validation {
    condition     = can(regex("^(?:(arn:[a-z-]+:secretsmanager:.+)?)$", var.restored_signing_keys))
    error_message = "restored_signing_keys does not have the required form."
  }
}

variable "retention" {
  description = "How long runs are kept after their end, 1d to 3650d, where their workflow does not say. Empty: for ever."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:([1-9][0-9]{0,3}d)?)$", var.retention))
    error_message = "retention does not have the required form."
  }
}

variable "kms_key" {
  description = "ARN of a KMS key of your own for the table, the bucket, the queues and the signing keys. Empty: keys of AWS."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/.+)?)$", var.kms_key))
    error_message = "kms_key does not have the required form."
  }
}

variable "permissions_boundary" {
  description = "ARN of a managed policy that bounds every role of the stack. Empty: none."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(arn:[a-z-]+:iam::.+:policy/.+)?)$", var.permissions_boundary))
    error_message = "permissions_boundary does not have the required form."
  }
}

variable "subnet_ids" {
  description = "Subnets in which the functions run, except the sandbox, comma-separated. They need a way to AWS. Empty: no VPC."
  type        = list(string)
  default     = []
}

variable "security_group_ids" {
  description = "Security groups of the functions in SubnetIds, comma-separated."
  type        = list(string)
  default     = []
}

variable "log_level" {
  type    = string
  default = "INFO"
  validation {
    condition     = contains(["DEBUG", "INFO", "WARNING", "ERROR"], var.log_level)
    error_message = "log_level is not one of the allowed values."
  }
}

variable "log_retention_days" {
  type    = number
  default = 30
  validation {
    condition     = contains([1, 3, 5, 7, 14, 30, 60, 90, 120, 180, 365, 400, 731, 1827, 3653], var.log_retention_days)
    error_message = "log_retention_days is not one of the allowed values."
  }
}

variable "tracing" {
  description = "AWS X-Ray tracing of every invocation and of its requests to AWS."
  type        = string
  default     = "off"
  validation {
    condition     = contains(["on", "off"], var.tracing)
    error_message = "tracing is not one of the allowed values."
  }
}

variable "snap_start" {
  description = "Start the functions runner, api and trigger from snapshots of their initialization. AWS bills the snapshots and each restore."
  type        = string
  default     = "off"
  validation {
    condition     = contains(["on", "off"], var.snap_start)
    error_message = "snap_start is not one of the allowed values."
  }
}

variable "otel_endpoint" {
  description = "URL of an OpenTelemetry collector (OTLP over HTTP) for spans and metrics of runs. Empty: none are exported."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:(https?://[^ @]+)?)$", var.otel_endpoint))
    error_message = "otel_endpoint does not have the required form."
  }
}

variable "otel_resource_attributes" {
  description = "With OtelEndpoint: attributes of every span and metric, as key=value,key=value (deployment.environment.name=prod)."
  type        = string
  default     = ""
}

variable "release" {
  description = "Set by `make deploy`. With a new value, a version of every function is published: changed parameters alone do not do that."
  type        = string
  default     = ""
  validation {
    condition     = can(regex("^(?:[a-z0-9-]{0,64})$", var.release))
    error_message = "release does not have the required form."
  }
}
