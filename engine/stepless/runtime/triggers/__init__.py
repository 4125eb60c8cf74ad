"""What starts runs besides a caller: webhooks with their signatures, schedules, events of EventBridge, S3 and queues, and the
same request once more. Each of them ends in the verb `start`.
"""
