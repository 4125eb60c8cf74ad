"""Offers the verbs of the engine as methods of one object, for every interface: HTTP, command line, Lambda, Python. The
definition of a verb documents its parameters, its effect and its errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from stepless.runtime.access.tokens import Signer
from stepless.runtime.triggers import deliveries, redelivering, schedule_verbs, webhooks
from stepless.runtime.verbs.changes import answering, bulk, erasing, holds, sending, time_skip
from stepless.runtime.verbs.overviews import approvals, failures, health, versions
from stepless.runtime.verbs.publication import publishing
from stepless.runtime.verbs.reads import costing, inspecting, replaying, searching, values
from stepless.runtime.verbs.starts import reruns, starting
from stepless.runtime.world import World

P = ParamSpec("P")
R = TypeVar("R")


def _verb(verb: Callable[Concatenate[World, P], R]) -> Callable[Concatenate[Service, P], R]:
    """A verb as a method: `service.start(…)` calls `starting.start(service.world, …)`."""

    @wraps(verb)
    def method(service: Service, /, *args: P.args, **options: P.kwargs) -> R:
        return verb(service.world, *args, **options)

    return method


def _signing(verb: Callable[Concatenate[World, Signer, P], R]) -> Callable[Concatenate[Service, P], R]:
    """The same for a verb that reads or signs links."""

    @wraps(verb)
    def method(service: Service, /, *args: P.args, **options: P.kwargs) -> R:
        return verb(service.world, service.signer, *args, **options)

    return method


class Service:
    """Each verb is one call. No verb waits for a run."""

    def __init__(self, world: World, signer: Signer) -> None:
        self.world = world
        self.signer = signer

    publish = _verb(publishing.publish)

    start = _verb(starting.start)
    check_inputs = _verb(starting.check_inputs)
    start_shared = _verb(starting.start_shared)
    trigger = _verb(webhooks.trigger)
    receive_hook = _verb(webhooks.receive)
    hook_methods = _verb(webhooks.methods_of)
    deliver = _verb(deliveries.deliver)
    rerun = _verb(reruns.rerun)
    redeliver = _verb(redelivering.redeliver)

    show_pause = _signing(answering.show_pause)
    answer = _signing(answering.answer)
    answer_pause = _verb(answering.answer_pause)
    check_decider = _verb(answering.check_decider)
    cancel = _verb(answering.cancel)
    send = _verb(sending.send)
    send_to_run = _verb(sending.send_to_run)
    runs_of_key = _verb(sending.runs_of_key)
    hold = _verb(holds.hold)
    release = _verb(holds.release)
    erase = _verb(erasing.erase)
    skip = _verb(time_skip.skip_time)
    each_run = _verb(bulk.each_run)
    survey = _verb(bulk.survey)

    list_schedules = _verb(schedule_verbs.list_schedules)
    pause_schedule = _verb(schedule_verbs.pause_schedule)
    resume_schedule = _verb(schedule_verbs.resume_schedule)
    fire_schedule = _verb(schedule_verbs.fire_schedule)

    head = _verb(inspecting.head_of)
    run = _signing(inspecting.view)
    overview = _signing(inspecting.overview)
    nodes = _verb(inspecting.nodes)
    events = _verb(inspecting.events)
    replay = _verb(replaying.Replay)
    value = _signing(values.find)
    cost = _verb(costing.cost)
    search = _verb(searching.search)
    count = _verb(searching.count)
    approvals = _signing(approvals.approvals)
    failures = _verb(failures.failures)
    each_health = _verb(health.each_health)
    health = _verb(health.health)
    versions = _verb(versions.versions)
