# Made from template.yaml by `make terraform`. Do not edit.

output "url" {
  description = "URL of the API"
  value       = local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint
}

output "console_url" {
  description = "The console. With Auth jwt, the redirect URI of its client at the issuer is this address and signed-in"
  value       = "${local.with_public_url ? var.public_url : awscc_apigatewayv2_api.http_api.api_endpoint}/console/"
}

output "socket_url" {
  value = "${one(awscc_apigatewayv2_api.socket_api[*].api_endpoint)}/live"
}

output "user_pool_id" {
  description = "The user pool in which people sign in. Make its users, and put them into its groups"
  value       = one(awscc_cognito_user_pool.user_pool[*].user_pool_id)
}

output "table" {
  value = local.with_restored ? var.restored_table : awscc_dynamodb_table.run_table.table_name
}

output "queue" {
  value = awscc_sqs_queue.run_queue.queue_url
}

output "dead_letters" {
  value = awscc_sqs_queue.dead_letter_queue.queue_url
}

output "trigger_queue_arn" {
  description = "Target for EventBridge and S3, with your own rules"
  value       = awscc_sqs_queue.trigger_queue.arn
}

output "trigger_function_name" {
  description = "The function that your own queues may be connected to"
  value       = awscc_lambda_alias.trigger_function_aliaslive.alias_arn
}

output "trigger_dead_letters" {
  value = awscc_sqs_queue.trigger_dead_letter_queue.queue_url
}

output "schedules" {
  description = "The group of the schedules that publishing creates"
  value       = awscc_scheduler_schedule_group.calendar_group.name
}

output "bucket" {
  value = local.with_restored_bucket ? var.restored_bucket : awscc_s3_bucket.blob_bucket.bucket_name
}

output "signing_keys" {
  description = "The secret that holds the signing keys"
  value       = local.with_restored_keys ? var.restored_signing_keys : awscc_secretsmanager_secret.signing_secret.secret_id
}

output "runner_role_arn" {
  description = "The role of the runner; its permissions are those of your nodes"
  value       = awscc_iam_role.runner_role.arn
}
