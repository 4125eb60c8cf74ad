"""Implements the ports on AWS: DynamoDB, SQS, EventBridge Scheduler, S3, Parameter Store. The only package that imports boto3."""
