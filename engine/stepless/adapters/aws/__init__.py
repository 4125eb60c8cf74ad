"""The ports on AWS: DynamoDB, SQS, EventBridge Scheduler, S3, Parameter Store. The only room that knows boto3."""
