"""Executes one run in one invocation: the loop of the runner, the attempts that it starts, the facts that arrive during the
invocation, and the release of the run. `runtime/hosting` and the Lambda functions call the runner; requests never do.
"""
