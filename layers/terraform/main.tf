# Made from template.yaml by `make terraform`. Do not edit.

locals {
  with_visibility           = !(var.queue_visibility == "")
  with_default_timeout      = tostring(var.runner_timeout) == "120"
  with_iam                  = var.auth == "iam"
  with_jwt                  = var.auth == "jwt"
  with_console              = var.console == "yes"
  with_login                = !(var.console_client_id == "")
  with_pool                 = var.with_cognito == "yes"
  with_secrets_manager      = var.secrets_source == "secretsmanager"
  with_tracing              = var.tracing == "on"
  with_snap_start           = var.snap_start == "on"
  with_otel                 = !(var.otel_endpoint == "")
  with_api_keys             = !(var.api_key_hashes == "")
  with_mail                 = !(var.notify_from == "")
  with_restored             = !(var.restored_table == "")
  with_restored_bucket      = !(var.restored_bucket == "")
  with_restored_keys        = !(var.restored_signing_keys == "")
  with_topic                = !(var.notify_topic == "")
  with_cors                 = !(var.cors_origins == "")
  with_run_events           = !(var.run_events_bus == "")
  with_failure_notices      = !(var.on_failure_notify == "")
  with_events               = !(join("", var.event_sources) == "")
  with_event_queues         = !(join("", var.event_queues) == "")
  with_key                  = !(var.kms_key == "")
  with_boundary             = !(var.permissions_boundary == "")
  with_vpc                  = !(join("", var.subnet_ids) == "")
  with_retention            = !(var.retention == "")
  with_public_url           = !(var.public_url == "")
  with_alarm_topic          = !(var.alarm_topic == "")
  with_reserved_concurrency = !(var.runner_concurrency == "0")
  with_pollers              = !(var.runner_pollers == "0")
  with_runner_policies      = !(join("", var.runner_policies) == "")
  given                     = nonsensitive(sha256(jsonencode([var.auth, var.api_key_hashes, var.jwt_issuer, var.jwt_audience, var.jwt_roles_claim, var.jwt_roles, var.iam_roles, var.public_url, var.cors_origins, var.console, var.console_client_id, var.console_scope, var.with_cognito, var.function_modules, var.runner_policies, var.notify_from, var.notify_topic, var.run_events_bus, var.on_failure_notify, var.event_sources, var.event_bus, var.event_queues, var.sandbox_memory, var.runner_memory, var.runner_timeout, var.queue_visibility, var.max_receives, var.runner_batch_size, var.runner_concurrency, var.api_rate, var.api_burst, var.index_shards, var.runner_pollers, var.runner_max_pollers, var.sweep_rate, var.alarm_topic, var.due_age_alarm_ms, var.queue_age_alarm_s, var.failed_runs_alarm, var.refused_requests_alarm, var.secrets_source, var.restored_table, var.restored_bucket, var.restored_signing_keys, var.retention, var.kms_key, var.permissions_boundary, var.subnet_ids, var.security_group_ids, var.log_level, var.log_retention_days, var.tracing, var.snap_start, var.otel_endpoint, var.otel_resource_attributes, var.release])))
  artifacts                 = toset(keys(local.folders))
  folders = {
    api_function        = "ApiFunction"
    deadletter_function = "DeadletterFunction"
    dependencies        = "Dependencies"
    engine              = "Engine"
    functions           = "Functions"
    runner_function     = "RunnerFunction"
    sandbox_function    = "SandboxFunction"
    socket_function     = "SocketFunction"
    sweeper_function    = "SweeperFunction"
    trigger_function    = "TriggerFunction"
  }
}

resource "terraform_data" "rules" {
  lifecycle {
    precondition {
      condition     = !((var.auth == "jwt") && (var.with_cognito == "no")) || (!(var.jwt_issuer == ""))
      error_message = "Auth jwt needs JwtIssuer, or WithCognito yes."
    }
    precondition {
      condition     = !((var.auth == "jwt") && (var.with_cognito == "no")) || (!(alltrue([for each in var.jwt_audience : each == ""])))
      error_message = "Auth jwt needs JwtAudience."
    }
    precondition {
      condition     = !(var.console == "yes") || (!(var.auth == "iam"))
      error_message = "Console yes needs Auth api-key or jwt: a page cannot sign requests for IAM."
    }
    precondition {
      condition     = !(var.console == "yes") || ((!(var.auth == "jwt")) || (!(var.console_client_id == "")) || (var.with_cognito == "yes"))
      error_message = "Console yes with Auth jwt needs ConsoleClientId, or WithCognito yes."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (var.auth == "jwt")
      error_message = "WithCognito yes needs Auth jwt."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (var.console == "yes")
      error_message = "WithCognito yes needs Console yes."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (var.jwt_issuer == "")
      error_message = "WithCognito yes makes the issuer: leave JwtIssuer empty."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (alltrue([for each in var.jwt_audience : each == ""]))
      error_message = "WithCognito yes makes the audience: leave JwtAudience empty."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (var.console_client_id == "")
      error_message = "WithCognito yes makes the client: leave ConsoleClientId empty."
    }
    precondition {
      condition     = !(var.with_cognito == "yes") || (var.console_scope == "openid")
      error_message = "WithCognito yes makes a client for the scope openid: leave ConsoleScope at its default."
    }
    precondition {
      condition     = !(!(contains(["10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64", "65", "66", "67", "68", "69", "70", "71", "72", "73", "74", "75", "76", "77", "78", "79", "80", "81", "82", "83", "84", "85", "86", "87", "88", "89", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99", "100", "101", "102", "103", "104", "105", "106", "107", "108", "109", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119", "120", "121", "122", "123", "124", "125", "126", "127", "128", "129", "130", "131", "132", "133", "134", "135", "136", "137", "138", "139", "140", "141", "142", "143", "144", "145", "146", "147", "148", "149", "150", "151", "152", "153", "154", "155", "156", "157", "158", "159", "160", "161", "162", "163", "164", "165", "166", "167", "168", "169", "170", "171", "172", "173", "174", "175", "176", "177", "178", "179", "180"], tostring(var.runner_timeout)))) || (!(contains(["10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46", "47", "48", "49", "50", "51", "52", "53", "54", "55", "56", "57", "58", "59", "60", "61", "62", "63", "64", "65", "66", "67", "68", "69", "70", "71", "72", "73", "74", "75", "76", "77", "78", "79", "80", "81", "82", "83", "84", "85", "86", "87", "88", "89", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99", "100", "101", "102", "103", "104", "105", "106", "107", "108", "109", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119", "120", "121", "122", "123", "124", "125", "126", "127", "128", "129", "130", "131", "132", "133", "134", "135", "136", "137", "138", "139", "140", "141", "142", "143", "144", "145", "146", "147", "148", "149", "150", "151", "152", "153", "154", "155", "156", "157", "158", "159", "160", "161", "162", "163", "164", "165", "166", "167", "168", "169", "170", "171", "172", "173", "174", "175", "176", "177", "178", "179", "180"], tostring(var.queue_visibility))))
      error_message = "QueueVisibility is shorter than RunnerTimeout: leave it empty, or make it longer."
    }
    precondition {
      condition     = !((!(alltrue([for each in var.subnet_ids : each == ""]))) || (!(alltrue([for each in var.security_group_ids : each == ""])))) || (!(alltrue([for each in var.subnet_ids : each == ""])))
      error_message = "SecurityGroupIds needs SubnetIds."
    }
    precondition {
      condition     = !((!(alltrue([for each in var.subnet_ids : each == ""]))) || (!(alltrue([for each in var.security_group_ids : each == ""])))) || (!(alltrue([for each in var.security_group_ids : each == ""])))
      error_message = "SubnetIds needs SecurityGroupIds."
    }
    precondition {
      condition     = !(var.restored_table == "") || (var.restored_bucket == "")
      error_message = "RestoredBucket needs RestoredTable: runs refer to values in the bucket."
    }
    precondition {
      condition     = !(var.restored_table == "") || (var.restored_signing_keys == "")
      error_message = "RestoredSigningKeys needs RestoredTable: the keys signed links to its runs."
    }
  }
}

resource "awscc_dynamodb_table" "run_table" {
  billing_mode                = "PAY_PER_REQUEST"
  deletion_protection_enabled = true
  attribute_definitions = [
    {
      attribute_name = "pk"
      attribute_type = "S"
    },
    {
      attribute_name = "sk"
      attribute_type = "S"
    },
    {
      attribute_name = "g1"
      attribute_type = "S"
    },
    {
      attribute_name = "t1"
      attribute_type = "S"
    },
    {
      attribute_name = "g2"
      attribute_type = "S"
    },
    {
      attribute_name = "d2"
      attribute_type = "N"
    },
  ]
  key_schema = jsonencode([
    {
      AttributeName = "pk"
      KeyType       = "HASH"
    },
    {
      AttributeName = "sk"
      KeyType       = "RANGE"
    },
  ])
  global_secondary_indexes = [
    {
      index_name = "runs-by-age"
      key_schema = [
        {
          attribute_name = "g1"
          key_type       = "HASH"
        },
        {
          attribute_name = "t1"
          key_type       = "RANGE"
        },
      ]
      projection = {
        projection_type    = "INCLUDE"
        non_key_attributes = ["e"]
      }
    },
    {
      index_name = "runs-by-due"
      key_schema = [
        {
          attribute_name = "g2"
          key_type       = "HASH"
        },
        {
          attribute_name = "d2"
          key_type       = "RANGE"
        },
      ]
      projection = {
        projection_type    = "INCLUDE"
        non_key_attributes = ["g1", "t1", "st"]
      }
    },
  ]
  time_to_live_specification = {
    attribute_name = "x"
    enabled        = true
  }
  point_in_time_recovery_specification = {
    point_in_time_recovery_enabled = true
  }
  sse_specification = local.with_key ? {
    sse_enabled       = true
    sse_type          = "KMS"
    kms_master_key_id = var.kms_key
    } : {
    sse_enabled = true
  }
  tags = [for name, value in var.tags : { key = name, value = value }]

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_s3_bucket" "blob_bucket" {
  bucket_encryption = {
    server_side_encryption_configuration = [
      local.with_key ? {
        server_side_encryption_by_default = {
          sse_algorithm     = "aws:kms"
          kms_master_key_id = var.kms_key
        }
        bucket_key_enabled = true
        } : {
        server_side_encryption_by_default = {
          sse_algorithm = "AES256"
        }
      },
    ]
  }
  public_access_block_configuration = {
    block_public_acls       = true
    block_public_policy     = true
    ignore_public_acls      = true
    restrict_public_buckets = true
  }
  ownership_controls = {
    rules = [
      {
        object_ownership = "BucketOwnerEnforced"
      },
    ]
  }
  lifecycle_configuration = {
    rules = [
      {
        id     = "unfinished-uploads"
        status = "Enabled"
        abort_incomplete_multipart_upload = {
          days_after_initiation = 1
        }
      },
    ]
  }
  tags = [for name, value in var.tags : { key = name, value = value }]

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_secretsmanager_secret" "signing_secret" {
  description = "Keys that sign resume links, by key id. The first signs, all are accepted."
  kms_key_id  = local.with_key ? var.kms_key : null
  generate_secret_string = {
    secret_string_template = "{}"
    generate_string_key    = "first"
    password_length        = 64
    exclude_punctuation    = true
  }
  tags = [for name, value in var.tags : { key = name, value = value }]

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_sqs_queue" "run_queue" {
  visibility_timeout       = local.with_visibility ? var.queue_visibility : local.with_default_timeout ? 180 : 960
  message_retention_period = 345600
  sqs_managed_sse_enabled  = local.with_key ? null : true
  kms_master_key_id        = local.with_key ? var.kms_key : null
  redrive_policy = jsonencode({
    deadLetterTargetArn = awscc_sqs_queue.dead_letter_queue.arn
    maxReceiveCount     = var.max_receives
  })
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_sqs_queue" "dead_letter_queue" {
  visibility_timeout       = 60
  message_retention_period = 1209600
  sqs_managed_sse_enabled  = local.with_key ? null : true
  kms_master_key_id        = local.with_key ? var.kms_key : null
  tags                     = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_scheduler_schedule_group" "timer_group" {
  name = "${var.stack_name}-timers"
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "timer_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "scheduler.amazonaws.com"
        }
        Action = "sts:AssumeRole"
        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.current.account_id
          }
        }
      },
    ]
  })
  policies = [
    {
      policy_name = "send"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = "sqs:SendMessage"
            Resource = [awscc_sqs_queue.run_queue.arn, awscc_sqs_queue.dead_letter_queue.arn]
          },
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_sqs_queue" "trigger_queue" {
  visibility_timeout       = 180
  message_retention_period = 345600
  sqs_managed_sse_enabled  = local.with_key ? null : true
  kms_master_key_id        = local.with_key ? var.kms_key : null
  redrive_policy = jsonencode({
    deadLetterTargetArn = awscc_sqs_queue.trigger_dead_letter_queue.arn
    maxReceiveCount     = 20
  })
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_sqs_queue" "trigger_dead_letter_queue" {
  message_retention_period = 1209600
  sqs_managed_sse_enabled  = local.with_key ? null : true
  kms_master_key_id        = local.with_key ? var.kms_key : null
  tags                     = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_scheduler_schedule_group" "calendar_group" {
  name = "${var.stack_name}-schedules"
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "calendar_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "scheduler.amazonaws.com"
        }
        Action = "sts:AssumeRole"
        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.current.account_id
          }
        }
      },
    ]
  })
  policies = [
    {
      policy_name = "send"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = "sqs:SendMessage"
            Resource = [awscc_sqs_queue.trigger_queue.arn, awscc_sqs_queue.trigger_dead_letter_queue.arn]
          },
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_events_rule" "event_rule" {
  count = local.with_events ? 1 : 0

  description    = "Events that may start runs; the patterns of the workflows decide which do"
  event_bus_name = var.event_bus
  event_pattern = jsonencode({
    source = var.event_sources
  })
  targets = [
    {
      id  = "trigger"
      arn = awscc_sqs_queue.trigger_queue.arn
      dead_letter_config = {
        arn = awscc_sqs_queue.trigger_dead_letter_queue.arn
      }
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_sqs_queue_policy" "event_policy" {
  count = local.with_events ? 1 : 0

  queues = [awscc_sqs_queue.trigger_queue.queue_url, awscc_sqs_queue.trigger_dead_letter_queue.queue_url]
  policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "events.amazonaws.com"
        }
        Action   = "sqs:SendMessage"
        Resource = [awscc_sqs_queue.trigger_queue.arn, awscc_sqs_queue.trigger_dead_letter_queue.arn]
        Condition = {
          ArnEquals = {
            "aws:SourceArn" = one(awscc_events_rule.event_rule[*].arn)
          }
        }
      },
    ]
  })
}

resource "awscc_logs_log_group" "trigger_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-trigger"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "trigger_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "trigger"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.trigger_logs.arn
          },
          {
            Effect = "Allow"
            Action = [
              "dynamodb:BatchGetItem",
              "dynamodb:GetItem",
              "dynamodb:PutItem",
              "dynamodb:Query",
              "dynamodb:UpdateItem",
            ]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect   = "Allow"
            Action   = "sqs:SendMessage"
            Resource = awscc_sqs_queue.run_queue.arn
          },
          {
            Effect   = "Allow"
            Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
            Resource = awscc_sqs_queue.trigger_queue.arn
          },
          local.with_event_queues ? {
            Effect   = "Allow"
            Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
            Resource = var.event_queues
          } : null,
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_log_group" "sandbox_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-sandbox"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "sandbox_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "sandbox"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.sandbox_logs.arn
          },
        ]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_log_group" "api_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-api"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "api_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "api"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.api_logs.arn
          },
          {
            Effect = "Allow"
            Action = [
              "dynamodb:BatchGetItem",
              "dynamodb:BatchWriteItem",
              "dynamodb:DeleteItem",
              "dynamodb:GetItem",
              "dynamodb:PutItem",
              "dynamodb:Query",
              "dynamodb:UpdateItem",
            ]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect   = "Allow"
            Action   = "s3:ListBucket"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}" : awscc_s3_bucket.blob_bucket.arn
          },
          {
            Effect   = "Allow"
            Action   = ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/*"
          },
          {
            Effect   = "Allow"
            Action   = "sqs:SendMessage"
            Resource = awscc_sqs_queue.run_queue.arn
          },
          {
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
          },
          local.with_secrets_manager ? {
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = "arn:${data.aws_partition.current.partition}:secretsmanager:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:secret:/${var.stack_name}/*"
            } : {
            Effect   = "Allow"
            Action   = "ssm:GetParameter"
            Resource = "arn:${data.aws_partition.current.partition}:ssm:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:parameter/${var.stack_name}/*"
          },
          {
            Effect   = "Allow"
            Action   = ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"]
            Resource = "arn:${data.aws_partition.current.partition}:scheduler:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:schedule/${awscc_scheduler_schedule_group.calendar_group.name}/*"
          },
          {
            Effect   = "Allow"
            Action   = "scheduler:ListSchedules"
            Resource = "*"
          },
          {
            Effect   = "Allow"
            Action   = "iam:PassRole"
            Resource = awscc_iam_role.calendar_role.arn
            Condition = {
              StringEquals = {
                "iam:PassedToService" = "scheduler.amazonaws.com"
              }
            }
          },
          local.with_console ? {
            Effect   = "Allow"
            Action   = "execute-api:ManageConnections"
            Resource = "arn:${data.aws_partition.current.partition}:execute-api:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${one(awscc_apigatewayv2_api.socket_api[*].api_id)}/live/*/@connections/*"
          } : null,
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_apigatewayv2_api" "http_api" {
  name          = var.stack_name
  protocol_type = "HTTP"
  tags          = var.tags
}

resource "awscc_apigatewayv2_stage" "api_stage" {
  api_id      = awscc_apigatewayv2_api.http_api.api_id
  stage_name  = "$default"
  auto_deploy = true
  default_route_settings = {
    throttling_burst_limit = var.api_burst
    throttling_rate_limit  = var.api_rate
  }
  access_log_settings = {
    destination_arn = awscc_logs_log_group.access_logs.arn
    format          = "{\"at\":\"$context.requestTime\",\"ip\":\"$context.identity.sourceIp\",\"route\":\"$context.routeKey\",\"status\":\"$context.status\",\"ms\":\"$context.responseLatency\",\"error\":\"$context.integrationErrorMessage\"}"
  }
  tags = var.tags
}

resource "awscc_logs_log_group" "access_logs" {
  log_group_name    = "/aws/apigateway/${var.stack_name}"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_apigatewayv2_integration" "api_integration" {
  api_id                 = awscc_apigatewayv2_api.http_api.api_id
  integration_type       = "AWS_PROXY"
  integration_uri        = awscc_lambda_alias.api_function_aliaslive.alias_arn
  payload_format_version = "2.0"
  timeout_in_millis      = 30000
}

resource "awscc_apigatewayv2_authorizer" "api_authorizer" {
  count = local.with_jwt ? 1 : 0

  api_id          = awscc_apigatewayv2_api.http_api.api_id
  name            = "jwt"
  authorizer_type = "JWT"
  identity_source = ["$request.header.Authorization"]
  jwt_configuration = {
    issuer   = local.with_pool ? "https://cognito-idp.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}/${one(awscc_cognito_user_pool.user_pool[*].user_pool_id)}" : var.jwt_issuer
    audience = local.with_pool ? [one(awscc_cognito_user_pool_client.pool_client[*].client_id)] : var.jwt_audience
  }
}

resource "awscc_apigatewayv2_route" "guarded_route" {
  api_id             = awscc_apigatewayv2_api.http_api.api_id
  route_key          = "$default"
  authorization_type = local.with_iam ? "AWS_IAM" : local.with_jwt ? "JWT" : "NONE"
  authorizer_id      = local.with_jwt ? one(awscc_apigatewayv2_authorizer.api_authorizer[*].authorizer_id) : null
  target             = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "hook_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "ANY /hooks/{path+}"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "link_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "ANY /resume/{token}"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "health_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /health"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "page_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /runs/{run_id}/view"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "root_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "docs_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /docs"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "open_api_route" {
  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /openapi.json"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "console_route" {
  count = local.with_console ? 1 : 0

  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /console"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "console_files_route" {
  count = local.with_console ? 1 : 0

  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "GET /console/{path+}"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_apigatewayv2_route" "preflight_route" {
  count = local.with_cors ? 1 : 0

  api_id    = awscc_apigatewayv2_api.http_api.api_id
  route_key = "OPTIONS /{path+}"
  target    = "integrations/${awscc_apigatewayv2_integration.api_integration.integration_id}"
}

resource "awscc_lambda_permission" "api_permission" {
  action        = "lambda:InvokeFunction"
  function_name = awscc_lambda_alias.api_function_aliaslive.alias_arn
  principal     = "apigateway.amazonaws.com"
  source_arn    = "arn:${data.aws_partition.current.partition}:execute-api:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${awscc_apigatewayv2_api.http_api.api_id}/*"
}

resource "awscc_cognito_user_pool" "user_pool" {
  count = local.with_pool ? 1 : 0

  user_pool_name      = var.stack_name
  user_pool_tier      = "ESSENTIALS"
  deletion_protection = "ACTIVE"
  admin_create_user_config = {
    allow_admin_create_user_only = true
  }
  username_attributes = ["email"]
  username_configuration = {
    case_sensitive = false
  }
  auto_verified_attributes = ["email"]
  user_attribute_update_settings = {
    attributes_require_verification_before_update = ["email"]
  }
  account_recovery_setting = {
    recovery_mechanisms = [
      {
        name     = "verified_email"
        priority = 1
      },
    ]
  }
  policies = {
    password_policy = {
      minimum_length                   = 14
      require_lowercase                = true
      require_uppercase                = true
      require_numbers                  = true
      require_symbols                  = true
      temporary_password_validity_days = 7
    }
  }
  mfa_configuration = "OPTIONAL"
  enabled_mfas      = ["SOFTWARE_TOKEN_MFA"]
  user_pool_tags    = var.tags

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_cognito_user_pool_domain" "pool_domain" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  domain       = join("-", ["stepless", split("/", local.stack_id)[2]])
}

resource "awscc_cognito_user_pool_client" "pool_client" {
  count = local.with_pool ? 1 : 0

  user_pool_id                          = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  client_name                           = "console"
  generate_secret                       = false
  allowed_o_auth_flows_user_pool_client = true
  allowed_o_auth_flows                  = ["code"]
  allowed_o_auth_scopes                 = ["openid"]
  supported_identity_providers          = ["COGNITO"]
  callback_ur_ls = [
    "${local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint}/console/signed-in",
  ]
  explicit_auth_flows           = ["ALLOW_REFRESH_TOKEN_AUTH"]
  enable_token_revocation       = true
  prevent_user_existence_errors = "ENABLED"
  access_token_validity         = 60
  id_token_validity             = 60
  refresh_token_validity        = 1
  token_validity_units = {
    access_token  = "minutes"
    id_token      = "minutes"
    refresh_token = "days"
  }
}

resource "awscc_cognito_user_pool_group" "read_group" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  group_name   = "stepless-read"
  description  = "The role read"

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_cognito_user_pool_group" "run_group" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  group_name   = "stepless-run"
  description  = "The role run"

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_cognito_user_pool_group" "edit_group" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  group_name   = "stepless-edit"
  description  = "The role edit"

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_cognito_user_pool_group" "approve_group" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  group_name   = "stepless-approve"
  description  = "The role approve"

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_cognito_user_pool_group" "admin_group" {
  count = local.with_pool ? 1 : 0

  user_pool_id = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
  group_name   = "stepless-admin"
  description  = "The role admin"

  lifecycle {
    prevent_destroy = true
  }
}

resource "awscc_apigatewayv2_api" "socket_api" {
  count = local.with_console ? 1 : 0

  name                       = "${var.stack_name}-sockets"
  protocol_type              = "WEBSOCKET"
  route_selection_expression = "$request.body.t"
  tags                       = var.tags
}

resource "awscc_apigatewayv2_stage" "socket_stage" {
  count = local.with_console ? 1 : 0

  api_id      = one(awscc_apigatewayv2_api.socket_api[*].api_id)
  stage_name  = "live"
  auto_deploy = true
  default_route_settings = {
    throttling_burst_limit = var.api_burst
    throttling_rate_limit  = var.api_rate
  }
  tags = var.tags
}

resource "awscc_apigatewayv2_integration" "socket_integration" {
  count = local.with_console ? 1 : 0

  api_id            = one(awscc_apigatewayv2_api.socket_api[*].api_id)
  integration_type  = "AWS_PROXY"
  integration_uri   = "arn:${data.aws_partition.current.partition}:apigateway:${data.aws_region.current.region}:lambda:path/2015-03-31/functions/${one(awscc_lambda_alias.socket_function_aliaslive[*].alias_arn)}/invocations"
  timeout_in_millis = 29000
}

resource "awscc_apigatewayv2_route" "connect_route" {
  count = local.with_console ? 1 : 0

  api_id             = one(awscc_apigatewayv2_api.socket_api[*].api_id)
  route_key          = "$connect"
  authorization_type = "NONE"
  target             = "integrations/${one(awscc_apigatewayv2_integration.socket_integration[*].integration_id)}"
}

resource "awscc_apigatewayv2_route" "message_route" {
  count = local.with_console ? 1 : 0

  api_id    = one(awscc_apigatewayv2_api.socket_api[*].api_id)
  route_key = "$default"
  target    = "integrations/${one(awscc_apigatewayv2_integration.socket_integration[*].integration_id)}"
}

resource "awscc_apigatewayv2_route" "disconnect_route" {
  count = local.with_console ? 1 : 0

  api_id    = one(awscc_apigatewayv2_api.socket_api[*].api_id)
  route_key = "$disconnect"
  target    = "integrations/${one(awscc_apigatewayv2_integration.socket_integration[*].integration_id)}"
}

resource "awscc_lambda_permission" "socket_permission" {
  count = local.with_console ? 1 : 0

  action        = "lambda:InvokeFunction"
  function_name = one(awscc_lambda_alias.socket_function_aliaslive[*].alias_arn)
  principal     = "apigateway.amazonaws.com"
  source_arn    = "arn:${data.aws_partition.current.partition}:execute-api:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${one(awscc_apigatewayv2_api.socket_api[*].api_id)}/*"
}

resource "awscc_logs_log_group" "socket_logs" {
  count = local.with_console ? 1 : 0

  log_group_name    = "/aws/lambda/${var.stack_name}-socket"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "socket_role" {
  count = local.with_console ? 1 : 0

  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "socket"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = one(awscc_logs_log_group.socket_logs[*].arn)
          },
          {
            Effect = "Allow"
            Action = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect = "Allow"
            Action = ["dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:UpdateItem"]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
            Condition = {
              "ForAllValues:StringLike" = {
                "dynamodb:LeadingKeys" = ["DRAFT*", "ROOM#*", "CONN#*", "CLAIM#ticket:*"]
              }
            }
          },
          {
            Effect   = "Allow"
            Action   = "s3:ListBucket"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}" : awscc_s3_bucket.blob_bucket.arn
          },
          {
            Effect   = "Allow"
            Action   = "s3:GetObject"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/*"
          },
          {
            Effect   = "Allow"
            Action   = "s3:PutObject"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/workflow-drafts/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/workflow-drafts/*"
          },
          {
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
          },
          {
            Effect   = "Allow"
            Action   = "execute-api:ManageConnections"
            Resource = "arn:${data.aws_partition.current.partition}:execute-api:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:${one(awscc_apigatewayv2_api.socket_api[*].api_id)}/live/*/@connections/*"
          },
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_log_group" "runner_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-runner"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "runner_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  managed_policy_arns = local.with_runner_policies ? var.runner_policies : null
  policies = [
    {
      policy_name = "runner"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.runner_logs.arn
          },
          {
            Effect = "Allow"
            Action = [
              "dynamodb:BatchGetItem",
              "dynamodb:BatchWriteItem",
              "dynamodb:DeleteItem",
              "dynamodb:GetItem",
              "dynamodb:PutItem",
              "dynamodb:Query",
              "dynamodb:UpdateItem",
            ]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect   = "Allow"
            Action   = "s3:ListBucket"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}" : awscc_s3_bucket.blob_bucket.arn
          },
          {
            Effect   = "Allow"
            Action   = ["s3:GetObject", "s3:PutObject"]
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/*"
          },
          {
            Effect = "Allow"
            Action = [
              "sqs:ChangeMessageVisibility",
              "sqs:DeleteMessage",
              "sqs:GetQueueAttributes",
              "sqs:ReceiveMessage",
              "sqs:SendMessage",
            ]
            Resource = awscc_sqs_queue.run_queue.arn
          },
          {
            Effect   = "Allow"
            Action   = ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"]
            Resource = "arn:${data.aws_partition.current.partition}:scheduler:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:schedule/${awscc_scheduler_schedule_group.timer_group.name}/*"
          },
          {
            Effect   = "Allow"
            Action   = "scheduler:ListSchedules"
            Resource = "*"
          },
          {
            Effect   = "Allow"
            Action   = "iam:PassRole"
            Resource = awscc_iam_role.timer_role.arn
            Condition = {
              StringEquals = {
                "iam:PassedToService" = "scheduler.amazonaws.com"
              }
            }
          },
          {
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
          },
          local.with_secrets_manager ? {
            Effect   = "Allow"
            Action   = "secretsmanager:GetSecretValue"
            Resource = "arn:${data.aws_partition.current.partition}:secretsmanager:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:secret:/${var.stack_name}/*"
            } : {
            Effect   = "Allow"
            Action   = "ssm:GetParameter"
            Resource = "arn:${data.aws_partition.current.partition}:ssm:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:parameter/${var.stack_name}/*"
          },
          {
            Effect   = "Allow"
            Action   = "lambda:InvokeFunction"
            Resource = awscc_lambda_alias.sandbox_function_aliaslive.alias_arn
          },
          local.with_run_events ? {
            Effect   = "Allow"
            Action   = "events:PutEvents"
            Resource = "arn:${data.aws_partition.current.partition}:events:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:event-bus/${var.run_events_bus}"
            Condition = {
              StringEquals = {
                "events:source" = "stepless.${var.stack_name}"
              }
            }
          } : null,
          local.with_topic ? {
            Effect   = "Allow"
            Action   = "sns:Publish"
            Resource = var.notify_topic
          } : null,
          local.with_mail ? {
            Effect = "Allow"
            Action = "ses:SendEmail"
            Resource = [
              "arn:${data.aws_partition.current.partition}:ses:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:identity/${var.notify_from}",
              "arn:${data.aws_partition.current.partition}:ses:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:identity/${split("@", var.notify_from)[1]}",
            ]
            Condition = {
              StringEquals = {
                "ses:FromAddress" = var.notify_from
              }
            }
          } : null,
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_sqs_queue" "sweep_queue" {
  visibility_timeout       = 60
  message_retention_period = 60
  sqs_managed_sse_enabled  = local.with_key ? null : true
  kms_master_key_id        = local.with_key ? var.kms_key : null
  tags                     = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_log_group" "sweeper_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-sweeper"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "sweeper_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "sweeper"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.sweeper_logs.arn
          },
          {
            Effect = "Allow"
            Action = [
              "dynamodb:BatchGetItem",
              "dynamodb:BatchWriteItem",
              "dynamodb:DeleteItem",
              "dynamodb:GetItem",
              "dynamodb:Query",
              "dynamodb:UpdateItem",
            ]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect   = "Allow"
            Action   = "s3:ListBucket"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}" : awscc_s3_bucket.blob_bucket.arn
          },
          {
            Effect = "Allow"
            Action = "dynamodb:PutItem"
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
            Condition = {
              "ForAllValues:StringLike" = {
                "dynamodb:LeadingKeys" = ["DRAFT*"]
              }
            }
          },
          {
            Effect   = "Allow"
            Action   = ["s3:DeleteObject", "s3:GetObject"]
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/*"
          },
          {
            Effect   = "Allow"
            Action   = "s3:PutObject"
            Resource = local.with_restored_bucket ? "arn:${data.aws_partition.current.partition}:s3:::${var.restored_bucket}/blobs/workflow-drafts/*" : "${awscc_s3_bucket.blob_bucket.arn}/blobs/workflow-drafts/*"
          },
          {
            Effect   = "Allow"
            Action   = "sqs:SendMessage"
            Resource = [awscc_sqs_queue.run_queue.arn, awscc_sqs_queue.sweep_queue.arn]
          },
          {
            Effect   = "Allow"
            Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
            Resource = awscc_sqs_queue.sweep_queue.arn
          },
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_scheduler_schedule" "sweeper_schedule" {
  description         = "Every minute"
  schedule_expression = "rate(1 minute)"
  flexible_time_window = {
    mode = "OFF"
  }
  target = {
    arn      = awscc_lambda_alias.sweeper_function_aliaslive.alias_arn
    role_arn = awscc_iam_role.sweeper_schedule_role.arn
    retry_policy = {
      maximum_retry_attempts       = 0
      maximum_event_age_in_seconds = 60
    }
  }
}

resource "awscc_iam_role" "sweeper_schedule_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "scheduler.amazonaws.com"
        }
        Action = "sts:AssumeRole"
        Condition = {
          StringEquals = {
            "aws:SourceAccount" = data.aws_caller_identity.current.account_id
          }
        }
      },
    ]
  })
  policies = [
    {
      policy_name = "invoke"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [
          {
            Effect   = "Allow"
            Action   = "lambda:InvokeFunction"
            Resource = awscc_lambda_alias.sweeper_function_aliaslive.alias_arn
          },
        ]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_log_group" "deadletter_logs" {
  log_group_name    = "/aws/lambda/${var.stack_name}-deadletter"
  retention_in_days = var.log_retention_days
  tags              = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "deadletter_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "lambda.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "deadletter"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [for each in [
          {
            Effect   = "Allow"
            Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
            Resource = awscc_logs_log_group.deadletter_logs.arn
          },
          {
            Effect = "Allow"
            Action = ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:UpdateItem"]
            Resource = [for each in [
              awscc_dynamodb_table.run_table.arn,
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-age",
              "${awscc_dynamodb_table.run_table.arn}/index/runs-by-due",
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-age" : null,
              local.with_restored ? "arn:${data.aws_partition.current.partition}:dynamodb:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:table/${var.restored_table}/index/runs-by-due" : null,
            ] : each if each != null]
          },
          {
            Effect   = "Allow"
            Action   = ["sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"]
            Resource = awscc_sqs_queue.dead_letter_queue.arn
          },
          local.with_key ? {
            Effect   = "Allow"
            Action   = ["kms:Decrypt", "kms:GenerateDataKey"]
            Resource = var.kms_key
          } : null,
          local.with_vpc ? {
            Effect = "Allow"
            Action = [
              "ec2:CreateNetworkInterface",
              "ec2:DeleteNetworkInterface",
              "ec2:DescribeNetworkInterfaces",
              "ec2:DescribeSubnets",
            ]
            Resource = "*"
          } : null,
          local.with_tracing ? {
            Effect   = "Allow"
            Action   = ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]
            Resource = "*"
          } : null,
        ] : each if each != null]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_iam_role" "deployment_role" {
  permissions_boundary = local.with_boundary ? var.permissions_boundary : null
  assume_role_policy_document = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect = "Allow"
        Principal = {
          Service = "codedeploy.amazonaws.com"
        }
        Action = "sts:AssumeRole"
      },
    ]
  })
  policies = [
    {
      policy_name = "deployment"
      policy_document = jsonencode({
        Version = "2012-10-17"
        Statement = [
          {
            Effect   = "Allow"
            Action   = ["lambda:GetAlias", "lambda:GetProvisionedConcurrencyConfig", "lambda:UpdateAlias"]
            Resource = "arn:${data.aws_partition.current.partition}:lambda:${data.aws_region.current.region}:${data.aws_caller_identity.current.account_id}:function:${var.stack_name}-*"
          },
          {
            Effect   = "Allow"
            Action   = "cloudwatch:DescribeAlarms"
            Resource = "*"
          },
        ]
      })
    },
  ]
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "dead_letter_depth_alarm" {
  alarm_description = "The deadletter function could not process a dead letter"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/SQS"
  metric_name       = "ApproximateNumberOfMessagesVisible"
  dimensions = [
    {
      name  = "QueueName"
      value = awscc_sqs_queue.dead_letter_queue.queue_name
    },
  ]
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "dead_letter_alarm" {
  alarm_description = "A run's messages failed too often; the log of the deadletter function names the run"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "Stepless"
  metric_name       = "DeadLetters"
  dimensions = [
    {
      name  = "service"
      value = "${var.stack_name}-deadletter"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 1
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "trigger_dead_letter_alarm" {
  alarm_description = "A schedule or an event could not start its run"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/SQS"
  metric_name       = "ApproximateNumberOfMessagesVisible"
  dimensions = [
    {
      name  = "QueueName"
      value = awscc_sqs_queue.trigger_dead_letter_queue.queue_name
    },
  ]
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 1
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "due_age_alarm" {
  alarm_description = "A run is due and no runner serves it"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "Stepless"
  metric_name       = "OldestDueAge"
  dimensions = [
    {
      name  = "service"
      value = "${var.stack_name}-sweeper"
    },
  ]
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  threshold           = var.due_age_alarm_ms
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "sweeper_silent_alarm" {
  alarm_description = "The sweep is not running"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Invocations"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-sweeper"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  threshold           = 1
  comparison_operator = "LessThanThreshold"
  treat_missing_data  = "breaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "api_error_alarm" {
  alarm_description = "The API returns 5xx responses"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/ApiGateway"
  metric_name       = "5xx"
  dimensions = [
    {
      name  = "ApiId"
      value = awscc_apigatewayv2_api.http_api.api_id
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 2
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "socket_error_alarm" {
  count = local.with_console ? 1 : 0

  alarm_description = "Invocations for the sockets of the console fail"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Errors"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-socket"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 2
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "runner_error_alarm" {
  alarm_description = "Invocations of the runner fail; their messages are delivered again"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Errors"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-runner"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 2
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "trigger_error_alarm" {
  alarm_description = "Invocations of the trigger function fail; their messages are delivered again"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Errors"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-trigger"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 2
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "sweeper_error_alarm" {
  alarm_description = "The sweep fails"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Errors"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-sweeper"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "throttle_alarm" {
  alarm_description = "The runner is throttled; raise its reserved concurrency or the limit of the account"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Lambda"
  metric_name       = "Throttles"
  dimensions = [
    {
      name  = "FunctionName"
      value = "${var.stack_name}-runner"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "commit_throttle_alarm" {
  alarm_description = "Commits and starts are throttled by the table or an index"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/DynamoDB"
  metric_name       = "ThrottledRequests"
  dimensions = [
    {
      name  = "TableName"
      value = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
    },
    {
      name  = "Operation"
      value = "PutItem"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "header_throttle_alarm" {
  alarm_description = "Leases and releases are throttled by the table or an index"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/DynamoDB"
  metric_name       = "ThrottledRequests"
  dimensions = [
    {
      name  = "TableName"
      value = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
    },
    {
      name  = "Operation"
      value = "UpdateItem"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "read_throttle_alarm" {
  alarm_description = "Reads of logs, inboxes and indexes are throttled"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/DynamoDB"
  metric_name       = "ThrottledRequests"
  dimensions = [
    {
      name  = "TableName"
      value = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
    },
    {
      name  = "Operation"
      value = "Query"
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 3
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "run_failure_alarm" {
  alarm_description = "Many runs fail"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "Stepless"
  metric_name       = "RunsFailed"
  dimensions = [
    {
      name  = "service"
      value = "${var.stack_name}-runner"
    },
  ]
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.failed_runs_alarm
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "run_timeout_alarm" {
  alarm_description = "Many runs time out"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "Stepless"
  metric_name       = "RunsTimedOut"
  dimensions = [
    {
      name  = "service"
      value = "${var.stack_name}-runner"
    },
  ]
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.failed_runs_alarm
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_logs_metric_filter" "refused_requests" {
  count = local.with_alarm_topic ? 1 : 0

  log_group_name = awscc_logs_log_group.access_logs.log_group_name
  filter_pattern = "{ $.status = \"429\" }"
  metric_transformations = [
    {
      metric_namespace = "Stepless"
      metric_name      = "${var.stack_name}-429"
      metric_value     = "1"
      default_value    = 0
    },
  ]
}

resource "awscc_cloudwatch_alarm" "export_alarm" {
  alarm_description = "Events or notices of runs are given up"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "Stepless"
  metric_name       = "ExportsDropped"
  dimensions = [
    {
      name  = "service"
      value = "${var.stack_name}-runner"
    },
  ]
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "refusal_alarm" {
  count = local.with_alarm_topic ? 1 : 0

  alarm_description   = "The API refuses requests with 429"
  alarm_actions       = [var.alarm_topic]
  namespace           = "Stepless"
  metric_name         = "${var.stack_name}-429"
  statistic           = "Sum"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.refused_requests_alarm
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "queue_age_alarm" {
  alarm_description = "Hints wait in the queue of the runner"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/SQS"
  metric_name       = "ApproximateAgeOfOldestMessage"
  dimensions = [
    {
      name  = "QueueName"
      value = awscc_sqs_queue.run_queue.queue_name
    },
  ]
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  threshold           = var.queue_age_alarm_s
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "trigger_age_alarm" {
  alarm_description = "Firings of schedules and events wait, and start no runs"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/SQS"
  metric_name       = "ApproximateAgeOfOldestMessage"
  dimensions = [
    {
      name  = "QueueName"
      value = awscc_sqs_queue.trigger_queue.queue_name
    },
  ]
  statistic           = "Maximum"
  period              = 60
  evaluation_periods  = 3
  threshold           = 600
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_alarm" "schedule_alarm" {
  alarm_description = "EventBridge Scheduler cannot deliver the firings of schedules"
  alarm_actions     = local.with_alarm_topic ? [var.alarm_topic] : null
  namespace         = "AWS/Scheduler"
  metric_name       = "TargetErrorCount"
  dimensions = [
    {
      name  = "ScheduleGroup"
      value = awscc_scheduler_schedule_group.calendar_group.name
    },
  ]
  statistic           = "Sum"
  period              = 60
  evaluation_periods  = 5
  datapoints_to_alarm = 2
  threshold           = 1
  comparison_operator = "GreaterThanOrEqualToThreshold"
  treat_missing_data  = "notBreaching"
  tags                = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_cloudwatch_dashboard" "dashboard" {
  dashboard_name = var.stack_name
  dashboard_body = "{\"widgets\": [\n  {\"type\": \"metric\", \"x\": 0, \"y\": 0, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Runs by outcome\", \"region\": \"${data.aws_region.current.region}\", \"stat\": \"Sum\", \"period\": 60, \"metrics\": [\n    [\"Stepless\", \"RunsStarted\", \"service\", \"${var.stack_name}-runner\"], [\".\", \"RunsCompleted\", \".\", \".\"], [\".\", \"RunsFailed\", \".\", \".\"], [\".\", \"RunsCancelled\", \".\", \".\"], [\".\", \"RunsTimedOut\", \".\", \".\"]]}},\n  {\"type\": \"metric\", \"x\": 12, \"y\": 0, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Node time, ms\", \"region\": \"${data.aws_region.current.region}\", \"period\": 60, \"metrics\": [\n    [\"Stepless\", \"NodeTime\", \"service\", \"${var.stack_name}-runner\", {\"stat\": \"p50\"}], [\"...\", {\"stat\": \"p99\"}]]}},\n  {\"type\": \"metric\", \"x\": 0, \"y\": 6, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Log and lease\", \"region\": \"${data.aws_region.current.region}\", \"stat\": \"Sum\", \"period\": 60, \"metrics\": [\n    [\"Stepless\", \"Commits\", \"service\", \"${var.stack_name}-runner\"], [\".\", \"LeaseConflicts\", \".\", \".\"], [\".\", \"HandOvers\", \".\", \".\"], [\".\", \"RunsRecovered\", \".\", \".\"], [\".\", \"FailOpens\", \".\", \"${var.stack_name}-api\"]]}},\n  {\"type\": \"metric\", \"x\": 12, \"y\": 6, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Overdue, age in ms\", \"region\": \"${data.aws_region.current.region}\", \"stat\": \"Maximum\", \"period\": 60, \"metrics\": [\n    [\"Stepless\", \"OldestDueAge\", \"service\", \"${var.stack_name}-sweeper\"], [\".\", \"DueRuns\", \".\", \".\"], [\".\", \"DeadLetters\", \".\", \"${var.stack_name}-deadletter\"], [\"AWS/SQS\", \"ApproximateNumberOfMessagesVisible\", \"QueueName\", \"${awscc_sqs_queue.dead_letter_queue.queue_name}\"]]}},\n  {\"type\": \"metric\", \"x\": 0, \"y\": 12, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Functions: errors and throttles\", \"region\": \"${data.aws_region.current.region}\", \"stat\": \"Sum\", \"period\": 60, \"metrics\": [\n    [\"AWS/Lambda\", \"Errors\", \"FunctionName\", \"${awscc_lambda_function.api_function.function_name}\"], [\"...\", \"${awscc_lambda_function.runner_function.function_name}\"], [\"...\", \"${awscc_lambda_function.sweeper_function.function_name}\"], [\"...\", \"${awscc_lambda_function.deadletter_function.function_name}\"], [\"...\", \"${awscc_lambda_function.trigger_function.function_name}\"], [\"...\", \"${awscc_lambda_function.sandbox_function.function_name}\"], [\".\", \"Throttles\", \".\", \"${awscc_lambda_function.runner_function.function_name}\"]]}},\n  {\"type\": \"metric\", \"x\": 12, \"y\": 12, \"width\": 12, \"height\": 6, \"properties\": {\"title\": \"Queue\", \"region\": \"${data.aws_region.current.region}\", \"stat\": \"Maximum\", \"period\": 60, \"metrics\": [\n    [\"AWS/SQS\", \"ApproximateNumberOfMessagesVisible\", \"QueueName\", \"${awscc_sqs_queue.run_queue.queue_name}\"], [\".\", \"ApproximateAgeOfOldestMessage\", \".\", \".\"], [\".\", \"ApproximateNumberOfMessagesVisible\", \".\", \"${awscc_sqs_queue.trigger_queue.queue_name}\"], [\"...\", \"${awscc_sqs_queue.trigger_dead_letter_queue.queue_name}\"]]}}\n]}\n"
}

resource "awscc_lambda_function" "trigger_function" {
  code = {
    s3_bucket = aws_s3_object.code["trigger_function"].bucket
    s3_key    = aws_s3_object.code["trigger_function"].key
  }
  description   = "Starts runs for schedules and events"
  function_name = "${var.stack_name}-trigger"
  handler       = "app.handler"
  memory_size   = 512
  role          = awscc_iam_role.trigger_role.arn
  runtime       = "python3.13"
  timeout       = 30
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                    = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                   = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP           = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN        = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN      = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP           = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN        = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN        = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN  = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION         = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET           = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX           = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE           = var.secrets_source
      STEPLESS_MODULES                  = var.function_modules
      STEPLESS_RUNNER_TIMEOUT           = var.runner_timeout
      STEPLESS_RETENTION                = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                 = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM              = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                  = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT       = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES          = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                 = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                  = local.release
      POWERTOOLS_METRICS_NAMESPACE      = "Stepless"
      POWERTOOLS_LOG_LEVEL              = var.log_level
      POWERTOOLS_SERVICE_NAME           = "${var.stack_name}-trigger"
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  architectures = ["arm64"]
  snap_start = local.with_snap_start ? {
    apply_on = "PublishedVersions"
  } : null
  logging_config = {
    log_group = awscc_logs_log_group.trigger_logs.log_group_name
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "trigger_function_version40ca5ef780" {
  description   = local.release
  function_name = awscc_lambda_function.trigger_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "trigger_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.trigger_function.function_name
  function_version = awscc_lambda_version.trigger_function_version40ca5ef780.version
}

resource "awscc_lambda_event_source_mapping" "trigger_function_arrivals" {
  batch_size              = 10
  event_source_arn        = awscc_sqs_queue.trigger_queue.arn
  function_name           = awscc_lambda_alias.trigger_function_aliaslive.alias_arn
  function_response_types = ["ReportBatchItemFailures"]
  tags                    = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_function" "sandbox_function" {
  code = {
    s3_bucket = aws_s3_object.code["sandbox_function"].bucket
    s3_key    = aws_s3_object.code["sandbox_function"].key
  }
  description   = "Runs the code of `code` nodes, without any permissions"
  function_name = "${var.stack_name}-sandbox"
  handler       = "app.handler"
  memory_size   = var.sandbox_memory
  role          = awscc_iam_role.sandbox_role.arn
  runtime       = "python3.13"
  timeout       = var.runner_timeout
  environment = {
    variables = {
      STEPLESS_CODE_UNSAFE = "1"
      STEPLESS_RELEASE     = local.release
    }
  }
  layers        = [awscc_lambda_layer_version.engine.layer_version_arn]
  architectures = ["arm64"]
  logging_config = {
    log_group = awscc_logs_log_group.sandbox_logs.log_group_name
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "sandbox_function_version55c889f295" {
  description   = local.release
  function_name = awscc_lambda_function.sandbox_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "sandbox_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.sandbox_function.function_name
  function_version = awscc_lambda_version.sandbox_function_version55c889f295.version
}

resource "awscc_lambda_function" "api_function" {
  code = {
    s3_bucket = aws_s3_object.code["api_function"].bucket
    s3_key    = aws_s3_object.code["api_function"].key
  }
  description   = "The HTTP API"
  function_name = "${var.stack_name}-api"
  handler       = "app.handler"
  memory_size   = 1024
  role          = awscc_iam_role.api_role.arn
  runtime       = "python3.13"
  timeout       = 29
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                           = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                       = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                          = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP                  = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN               = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN             = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN        = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP                  = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN               = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN               = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN         = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION                = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET                  = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX                  = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE                  = var.secrets_source
      STEPLESS_MODULES                         = var.function_modules
      STEPLESS_RUNNER_TIMEOUT                  = var.runner_timeout
      STEPLESS_RETENTION                       = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                        = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM                     = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                         = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT              = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES                 = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                        = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                         = local.release
      POWERTOOLS_METRICS_NAMESPACE             = "Stepless"
      POWERTOOLS_LOG_LEVEL                     = var.log_level
      POWERTOOLS_SERVICE_NAME                  = "${var.stack_name}-api"
      STEPLESS_AUTH                            = var.auth
      STEPLESS_JWT_ISSUER                      = local.with_pool ? "https://cognito-idp.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}/${one(awscc_cognito_user_pool.user_pool[*].user_pool_id)}" : local.with_jwt ? var.jwt_issuer : null
      STEPLESS_JWT_AUDIENCE                    = local.with_pool ? one(awscc_cognito_user_pool_client.pool_client[*].client_id) : local.with_jwt ? join(",", var.jwt_audience) : null
      STEPLESS_JWT_ROLES_CLAIM                 = local.with_jwt ? var.jwt_roles_claim : null
      STEPLESS_JWT_ROLES                       = local.with_jwt ? var.jwt_roles : null
      STEPLESS_IAM_ROLES                       = local.with_iam ? var.iam_roles : null
      STEPLESS_API_KEYS                        = local.with_api_keys ? var.api_key_hashes : null
      STEPLESS_CORS_ORIGINS                    = local.with_cors ? var.cors_origins : null
      STEPLESS_SOCKET_URL                      = local.with_console ? "${one(awscc_apigatewayv2_api.socket_api[*].api_endpoint)}/live" : null
      STEPLESS_CONSOLE_CLIENT_ID               = local.with_pool ? one(awscc_cognito_user_pool_client.pool_client[*].client_id) : local.with_login ? var.console_client_id : null
      STEPLESS_CONSOLE_SCOPE                   = local.with_pool ? var.console_scope : local.with_login ? var.console_scope : null
      AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI = local.with_console ? "https://${one(awscc_apigatewayv2_api.socket_api[*].api_id)}.execute-api.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}/live" : null
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  architectures = ["arm64"]
  snap_start = local.with_snap_start ? {
    apply_on = "PublishedVersions"
  } : null
  logging_config = {
    log_group = awscc_logs_log_group.api_logs.log_group_name
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "api_function_versiondb5ecfe0c1" {
  description   = local.release
  function_name = awscc_lambda_function.api_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "api_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.api_function.function_name
  function_version = awscc_lambda_version.api_function_versiondb5ecfe0c1.version
}

resource "awscc_lambda_function" "socket_function" {
  count = local.with_console ? 1 : 0

  code = {
    s3_bucket = aws_s3_object.code["socket_function"].bucket
    s3_key    = aws_s3_object.code["socket_function"].key
  }
  description   = "The rooms of drafts that people edit together"
  function_name = "${var.stack_name}-socket"
  handler       = "app.handler"
  memory_size   = 1024
  role          = one(awscc_iam_role.socket_role[*].arn)
  runtime       = "python3.13"
  timeout       = 29
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                           = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                       = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                          = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP                  = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN               = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN             = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN        = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP                  = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN               = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN               = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN         = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION                = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET                  = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX                  = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE                  = var.secrets_source
      STEPLESS_MODULES                         = var.function_modules
      STEPLESS_RUNNER_TIMEOUT                  = var.runner_timeout
      STEPLESS_RETENTION                       = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                        = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM                     = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                         = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT              = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES                 = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                        = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                         = local.release
      POWERTOOLS_METRICS_NAMESPACE             = "Stepless"
      POWERTOOLS_LOG_LEVEL                     = var.log_level
      POWERTOOLS_SERVICE_NAME                  = "${var.stack_name}-socket"
      STEPLESS_API_KEYS                        = local.with_api_keys ? var.api_key_hashes : null
      AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI = "https://${one(awscc_apigatewayv2_api.socket_api[*].api_id)}.execute-api.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}/live"
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  architectures = ["arm64"]
  snap_start = local.with_snap_start ? {
    apply_on = "PublishedVersions"
  } : null
  logging_config = {
    log_group = one(awscc_logs_log_group.socket_logs[*].log_group_name)
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "socket_function_version8502f20e3b" {
  count = local.with_console ? 1 : 0

  description   = local.release
  function_name = one(awscc_lambda_function.socket_function[*].function_name)

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "socket_function_aliaslive" {
  count = local.with_console ? 1 : 0

  name             = "live"
  function_name    = one(awscc_lambda_function.socket_function[*].function_name)
  function_version = one(awscc_lambda_version.socket_function_version8502f20e3b[*].version)
}

resource "awscc_lambda_function" "runner_function" {
  code = {
    s3_bucket = aws_s3_object.code["runner_function"].bucket
    s3_key    = aws_s3_object.code["runner_function"].key
  }
  description   = "Runs runs"
  function_name = "${var.stack_name}-runner"
  handler       = "app.handler"
  memory_size   = var.runner_memory
  role          = awscc_iam_role.runner_role.arn
  runtime       = "python3.13"
  timeout       = var.runner_timeout
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                    = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                   = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP           = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN        = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN      = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP           = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN        = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN        = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN  = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION         = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET           = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX           = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE           = var.secrets_source
      STEPLESS_MODULES                  = var.function_modules
      STEPLESS_RUNNER_TIMEOUT           = var.runner_timeout
      STEPLESS_RETENTION                = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                 = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM              = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                  = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT       = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES          = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                 = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                  = local.release
      POWERTOOLS_METRICS_NAMESPACE      = "Stepless"
      POWERTOOLS_LOG_LEVEL              = var.log_level
      POWERTOOLS_SERVICE_NAME           = "${var.stack_name}-runner"
      STEPLESS_EVENTS_BUS               = local.with_run_events ? var.run_events_bus : null
      STEPLESS_EVENTS_SOURCE            = "stepless.${var.stack_name}"
      STEPLESS_ON_FAILURE_NOTIFY        = local.with_failure_notices ? var.on_failure_notify : null
      STEPLESS_INDEX_SHARDS             = var.index_shards
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  reserved_concurrent_executions = local.with_reserved_concurrency ? var.runner_concurrency : null
  architectures                  = ["arm64"]
  snap_start = local.with_snap_start ? {
    apply_on = "PublishedVersions"
  } : null
  logging_config = {
    log_group = awscc_logs_log_group.runner_logs.log_group_name
  }
  recursive_loop = "Allow"
  tags           = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "runner_function_version2400400dfe" {
  description   = local.release
  function_name = awscc_lambda_function.runner_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "runner_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.runner_function.function_name
  function_version = awscc_lambda_version.runner_function_version2400400dfe.version
}

resource "awscc_lambda_event_source_mapping" "runner_function_hints" {
  batch_size              = var.runner_batch_size
  event_source_arn        = awscc_sqs_queue.run_queue.arn
  function_name           = awscc_lambda_alias.runner_function_aliaslive.alias_arn
  function_response_types = ["ReportBatchItemFailures"]
  scaling_config = local.with_pollers ? null : local.with_reserved_concurrency ? {
    maximum_concurrency = var.runner_concurrency
  } : null
  provisioned_poller_config = local.with_pollers ? {
    minimum_pollers = var.runner_pollers
    maximum_pollers = var.runner_max_pollers
  } : null
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_function" "sweeper_function" {
  code = {
    s3_bucket = aws_s3_object.code["sweeper_function"].bucket
    s3_key    = aws_s3_object.code["sweeper_function"].key
  }
  description   = "Finds runs that are due and that no runner serves, and removes those whose time is over"
  function_name = "${var.stack_name}-sweeper"
  handler       = "app.handler"
  memory_size   = 1024
  role          = awscc_iam_role.sweeper_role.arn
  runtime       = "python3.13"
  timeout       = 55
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                    = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                   = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP           = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN        = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN      = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP           = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN        = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN        = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN  = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION         = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET           = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX           = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE           = var.secrets_source
      STEPLESS_MODULES                  = var.function_modules
      STEPLESS_RUNNER_TIMEOUT           = var.runner_timeout
      STEPLESS_RETENTION                = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                 = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM              = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                  = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT       = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES          = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                 = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                  = local.release
      POWERTOOLS_METRICS_NAMESPACE      = "Stepless"
      POWERTOOLS_LOG_LEVEL              = var.log_level
      POWERTOOLS_SERVICE_NAME           = "${var.stack_name}-sweeper"
      STEPLESS_SWEEP_RATE               = var.sweep_rate
      STEPLESS_SWEEP_QUEUE_URL          = awscc_sqs_queue.sweep_queue.queue_url
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  architectures = ["arm64"]
  logging_config = {
    log_group = awscc_logs_log_group.sweeper_logs.log_group_name
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "sweeper_function_versionf3f08b5000" {
  description   = local.release
  function_name = awscc_lambda_function.sweeper_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "sweeper_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.sweeper_function.function_name
  function_version = awscc_lambda_version.sweeper_function_versionf3f08b5000.version
}

resource "awscc_lambda_event_source_mapping" "sweeper_function_parts" {
  batch_size              = 1
  event_source_arn        = awscc_sqs_queue.sweep_queue.arn
  function_name           = awscc_lambda_alias.sweeper_function_aliaslive.alias_arn
  function_response_types = ["ReportBatchItemFailures"]
  tags                    = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_function" "deadletter_function" {
  code = {
    s3_bucket = aws_s3_object.code["deadletter_function"].bucket
    s3_key    = aws_s3_object.code["deadletter_function"].key
  }
  description   = "Stops runs whose messages failed too often, and reports them"
  function_name = "${var.stack_name}-deadletter"
  handler       = "app.handler"
  memory_size   = 256
  role          = awscc_iam_role.deadletter_role.arn
  runtime       = "python3.13"
  timeout       = 30
  vpc_config = local.with_vpc ? {
    subnet_ids         = var.subnet_ids
    security_group_ids = var.security_group_ids
  } : null
  environment = {
    variables = { for name, each in {
      STEPLESS_TABLE                    = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
      STEPLESS_QUEUE_URL                = awscc_sqs_queue.run_queue.queue_url
      STEPLESS_BUCKET                   = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
      STEPLESS_SCHEDULE_GROUP           = awscc_scheduler_schedule_group.timer_group.name
      STEPLESS_SCHEDULE_ROLE_ARN        = awscc_iam_role.timer_role.arn
      STEPLESS_SCHEDULE_TARGET_ARN      = awscc_sqs_queue.run_queue.arn
      STEPLESS_SCHEDULE_DEAD_LETTER_ARN = awscc_sqs_queue.dead_letter_queue.arn
      STEPLESS_CALENDAR_GROUP           = awscc_scheduler_schedule_group.calendar_group.name
      STEPLESS_CALENDAR_ROLE_ARN        = awscc_iam_role.calendar_role.arn
      STEPLESS_TRIGGER_QUEUE_ARN        = awscc_sqs_queue.trigger_queue.arn
      STEPLESS_TRIGGER_DEAD_LETTER_ARN  = awscc_sqs_queue.trigger_dead_letter_queue.arn
      STEPLESS_SANDBOX_FUNCTION         = "${var.stack_name}-sandbox:live"
      STEPLESS_SIGNING_SECRET           = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
      STEPLESS_SECRETS_PREFIX           = "/${var.stack_name}/"
      STEPLESS_SECRETS_SOURCE           = var.secrets_source
      STEPLESS_MODULES                  = var.function_modules
      STEPLESS_RUNNER_TIMEOUT           = var.runner_timeout
      STEPLESS_RETENTION                = local.with_retention ? var.retention : null
      STEPLESS_BASE_URL                 = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
      STEPLESS_NOTIFY_FROM              = local.with_mail ? var.notify_from : null
      STEPLESS_TRACING                  = var.tracing
      OTEL_EXPORTER_OTLP_ENDPOINT       = local.with_otel ? var.otel_endpoint : null
      OTEL_RESOURCE_ATTRIBUTES          = local.with_otel ? var.otel_resource_attributes : null
      OTEL_SERVICE_NAME                 = local.with_otel ? var.stack_name : null
      STEPLESS_RELEASE                  = local.release
      POWERTOOLS_METRICS_NAMESPACE      = "Stepless"
      POWERTOOLS_LOG_LEVEL              = var.log_level
      POWERTOOLS_SERVICE_NAME           = "${var.stack_name}-deadletter"
    } : name => each if each != null }
  }
  tracing_config = {
    mode = local.with_tracing ? "Active" : "PassThrough"
  }
  layers = [
    awscc_lambda_layer_version.dependencies.layer_version_arn,
    awscc_lambda_layer_version.engine.layer_version_arn,
    awscc_lambda_layer_version.functions.layer_version_arn,
  ]
  architectures = ["arm64"]
  logging_config = {
    log_group = awscc_logs_log_group.deadletter_logs.log_group_name
  }
  tags = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_version" "deadletter_function_version0fe1217d4a" {
  description   = local.release
  function_name = awscc_lambda_function.deadletter_function.function_name

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_alias" "deadletter_function_aliaslive" {
  name             = "live"
  function_name    = awscc_lambda_function.deadletter_function.function_name
  function_version = awscc_lambda_version.deadletter_function_version0fe1217d4a.version
}

resource "awscc_lambda_event_source_mapping" "deadletter_function_dead_letters" {
  batch_size              = 10
  event_source_arn        = awscc_sqs_queue.dead_letter_queue.arn
  function_name           = awscc_lambda_alias.deadletter_function_aliaslive.alias_arn
  function_response_types = ["ReportBatchItemFailures"]
  tags                    = [for name, value in var.tags : { key = name, value = value }]
}

resource "awscc_lambda_layer_version" "dependencies" {
  content = {
    s3_bucket = aws_s3_object.code["dependencies"].bucket
    s3_key    = aws_s3_object.code["dependencies"].key
  }
  description              = "Third-party packages"
  layer_name               = "Dependencies"
  compatible_architectures = ["arm64"]
  compatible_runtimes      = ["python3.13"]

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_layer_version" "engine" {
  content = {
    s3_bucket = aws_s3_object.code["engine"].bucket
    s3_key    = aws_s3_object.code["engine"].key
  }
  description              = "The engine"
  layer_name               = "Engine"
  compatible_architectures = ["arm64"]
  compatible_runtimes      = ["python3.13"]

  lifecycle {
    create_before_destroy = true
  }
}

resource "awscc_lambda_layer_version" "functions" {
  content = {
    s3_bucket = aws_s3_object.code["functions"].bucket
    s3_key    = aws_s3_object.code["functions"].key
  }
  description              = "The functions that your workflows call"
  layer_name               = "Functions"
  compatible_architectures = ["arm64"]
  compatible_runtimes      = ["python3.13"]

  lifecycle {
    create_before_destroy = true
  }
}
