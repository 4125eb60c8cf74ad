"""Starts runs without a call of `start`: webhooks with their signatures, schedules, events of EventBridge, S3 and queues, and
redelivery of former requests. Each of them calls the verb `start`.
"""
