"""One run in one invocation: the loop of the runner, the attempts that it starts, the facts that arrive meanwhile, and how it
leaves the run. Nothing here is called by a request; `runtime/hosting` and the functions on AWS call the runner.
"""
