"""Declares the bodies and queries of requests as pydantic models that refuse unknown fields."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from stepless.limits import (
    DEFAULT_PAGE_ITEMS,
    MAX_AUDIT_FACT_CHARACTERS,
    MAX_BULK_RUNS,
    MAX_COMMENT_CHARACTERS,
    MAX_CURSOR_CHARACTERS,
    MAX_DURATION_FILTER_MS,
    MAX_INPUTS_QUERY_CHARACTERS,
    MAX_INSTANCE_CHARACTERS,
    MAX_ITEMS,
    MAX_ITEMS_AGAIN,
    MAX_ITEMS_AT_ONCE,
    MAX_KEY_BYTES,
    MAX_KEY_NAME_CHARACTERS,
    MAX_KEYWORD_CHARACTERS,
    MAX_KEYWORDS,
    MAX_LISTED_APPROVALS,
    MAX_LISTED_DECISIONS,
    MAX_LISTED_STATS,
    MAX_LISTED_VERSIONS,
    MAX_NODES,
    MAX_PAGE_ITEMS,
    MAX_PERSON_CHARACTERS,
    MAX_REASON_CHARACTERS,
    MAX_SEARCH_TEXT_CHARACTERS,
    MAX_VERSION,
)

Person = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PERSON_CHARACTERS, strip_whitespace=True)]
Keyword = Annotated[str, StringConstraints(pattern=rf"^[A-Za-z0-9_.:/@=+-]{{1,{MAX_KEYWORD_CHARACTERS}}}$")]
Keywords = Annotated[list[Keyword], Field(max_length=MAX_KEYWORDS)]
FormerKeywords = Annotated[Keywords, Field(json_schema_extra={"deprecated": True})]
RunKey = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_BYTES)]
SearchText = Annotated[str, StringConstraints(max_length=MAX_SEARCH_TEXT_CHARACTERS)]
ErrorCode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Milliseconds = Annotated[int, Field(ge=0, le=MAX_DURATION_FILTER_MS)]
Waiting = Literal["held", "answer", "time", "retry", "child", "limit", "message", "start"]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class WithKeywords(Body):
    """`keywords` are words like `customer:c-17`. `tags` is their former name and means the same."""

    keywords: Keywords = Field(default_factory=list)
    tags: FormerKeywords = Field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """All keywords without duplicates, in the given order."""
        return list(dict.fromkeys([*self.keywords, *self.tags]))

    @model_validator(mode="after")
    def _has_not_too_many(self) -> Self:
        if len(self.words) > MAX_KEYWORDS:
            raise ValueError(f"there are {len(self.words)} keywords; {MAX_KEYWORDS} is the limit")
        return self


class StartBody(WithKeywords):
    """`inputs` are the inputs of the run. `key` is the key of the run, in place of the value of the workflow's own `key`.
    `delay`, like `5m`, or `at`, an instant like `2026-01-31T12:00:00Z`, says when the run begins; by default at once. `entry`
    names the entry or entries to start at instead of all; a key with the role `admin` may name any node. `keywords`, like
    `customer:c-17`, are words to search the run by (`tags` is their former name)."""

    inputs: Any = Field(default_factory=dict)
    key: str | int | float | None = None
    delay: Annotated[str, StringConstraints(max_length=MAX_KEYWORD_CHARACTERS)] | None = None
    at: Annotated[str, StringConstraints(max_length=MAX_KEYWORD_CHARACTERS)] | None = None
    entry: str | Annotated[list[str], Field(min_length=1, max_length=DEFAULT_PAGE_ITEMS)] | None = None


class CancelBody(Body):
    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class HoldBody(Body):
    """Who holds a run or releases it, and why."""

    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class FireBody(Body):
    """Who fires a schedule; without `by`, the caller where that is a person."""

    by: Person | None = None


class ResumeScheduleBody(Body):
    """Who resumes a schedule; without `by`, the caller where that is a person."""

    by: Person | None = None


class RerunBody(Body):
    """`from` says where the new run begins. `failed`: only what failed, was cancelled in flight or was never reached runs, and
    all else is taken over, also inside iterations and child runs. A node (`node:failed` for one with this id), or an instance
    like `pay@each[3]`: that one and what is downstream of it run, too. Without `from`, every node runs. `inputs` replace those of
    the old run. `items` are for a `distributed` node in `from`: of its items, only `failed` ones run, or those with the given
    numbers, and those that have not ended. `by` and `reason` say who runs it again, and why. With `again: false`, a
    run whose rerun is in progress or has ended, unless it was cancelled, answers 409 `rerun_already`."""

    from_: str | None = Field(None, alias="from")
    inputs: Any = None
    items: Literal["failed"] | Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=MAX_ITEMS_AGAIN)] | None = None
    again: bool = True
    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class ToleranceBody(Body):
    """How many items may fail: a number, a share of all items, or both."""

    count: Annotated[int, Field(ge=0, le=MAX_ITEMS)] | None = None
    percent: Annotated[float, Field(ge=0, le=100)] | None = None


class ItemsBody(Body):
    """What is given replaces the parameter of the node while it runs."""

    concurrency: Annotated[int, Field(ge=1, le=MAX_ITEMS_AT_ONCE)] | None = None
    tolerate: ToleranceBody | None = None


class RunFilters(BaseModel):
    """The filters of RUN_FILTERS but the keywords, which a body and a query name differently."""

    workflow: str | None = None
    status: str | None = None
    waiting: Waiting | None = None
    since: str | None = None
    until: str | None = None
    key: RunKey | None = None
    search: SearchText | None = None
    error: ErrorCode | None = None
    min_duration_ms: Milliseconds | None = None
    max_duration_ms: Milliseconds | None = None


class BulkFilter(WithKeywords, RunFilters):
    """A run must match all given fields; at least one field other than `until` must be given. `tags` is the former name of
    `keywords`; the other fields are those of `GET /runs`."""


class BulkBody(Body):
    """Changes one page of runs, newest first; the `cursor` of the response gives the next page. `from` and `again` are for rerun:
    without `again`, runs that were rerun already are left out. With `dry_run` nothing is changed: the response says how many runs
    the next requests would change, among the next 2,000 that match the indexed part of the filter."""

    action: Literal["cancel", "hold", "release", "rerun", "pause", "unpause"]
    filter: BulkFilter
    limit: int = Field(MAX_BULK_RUNS, ge=1, le=MAX_BULK_RUNS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)
    dry_run: bool = False
    again: bool = False
    from_: str | None = Field(None, alias="from")
    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class KeyBody(Body):
    """Every key may read. `run` may start, cancel, hold and rerun; `edit` may change drafts; `approve` may see the links that
    answer questions; `admin` may do everything."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_NAME_CHARACTERS, strip_whitespace=True)]
    roles: list[Literal["read", "run", "send", "edit", "approve", "admin"]] = Field(min_length=1, max_length=6)


class ResumeBody(Body):
    """`decision` is one of the pause's exits; it is optional if there is only one. `answer` contains the fields. `comment` says
    why, and is kept in the audit log."""

    decision: str | None = None
    answer: Any = None
    by: Person | None = None
    comment: Annotated[str, StringConstraints(max_length=MAX_COMMENT_CHARACTERS)] | None = None


class Query(BaseModel):
    """Query parameters, which arrive as text. Unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class StartQuery(Query):
    """`idempotent=inputs` uses the inputs as the key: for 24 hours, a start with the same inputs returns the same run. With
    `check=inputs`, inputs that do not fit the `inputs` of an entry are refused, and no run is started that would fail."""

    idempotent: Literal["inputs"] | None = None
    check: Literal["inputs"] | None = None


class SendQuery(Query):
    """`key` is the key of the runs that the message is for. With `start=true`, a run starts if none has the key, with `inputs` as
    JSON, or else with the data. `keep`, like `1h`, is how long the message waits for runs that begin to answer to the key."""

    key: Annotated[str, StringConstraints(max_length=MAX_INSTANCE_CHARACTERS)]
    keep: Annotated[str, StringConstraints(max_length=MAX_KEYWORD_CHARACTERS)] | None = None
    start: bool = False
    inputs: Annotated[str, StringConstraints(max_length=MAX_INPUTS_QUERY_CHARACTERS)] | None = None


class EraseQuery(Query):
    """With `dry_run=true` nothing is erased: the response says what would stay. `force=true` drops events that are not exported
    yet."""

    dry_run: bool = False
    force: bool = False


class ListQuery(Query):
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)


class RunsQuery(ListQuery, RunFilters):
    """`waiting` is what the runs wait for. `since` and `until` are instants, in ISO 8601 or milliseconds since 1970: only runs
    created at or after the one, and before the other, are listed. A run must have all given `keyword`s; `tag` is the former name.
    Each word of `search` must occur in an id, a keyword, the failure or an open question of the run; `error` is the code of its
    failure. The durations are those of the response. A search by anything but workflow, status, `waiting` and `since` reads 2,000
    runs at a time: it may return fewer runs than `limit` and still have a cursor. A run that started less than ten seconds ago is
    found under `created`, although it is shown as `running`."""

    keyword: Keywords = Field(default_factory=list)
    tag: FormerKeywords = Field(default_factory=list)

    @property
    def words(self) -> list[str]:
        return [*self.keyword, *self.tag]


class CountQuery(RunsQuery):
    """The filters of `GET /runs`. `limit` is not used."""


class AuditQuery(ListQuery):
    """Entries have exactly these values. `since` and `until` are instants, in ISO 8601 or milliseconds since 1970: entries at or
    after the one, and before the other."""

    who: str | None = Field(None, max_length=MAX_AUDIT_FACT_CHARACTERS)
    verb: str | None = Field(None, max_length=MAX_AUDIT_FACT_CHARACTERS)
    target: str | None = Field(None, max_length=MAX_AUDIT_FACT_CHARACTERS)
    since: str | None = None
    until: str | None = None


class InstancesQuery(Query):
    """`after` is the number of instances to skip: the cursor of the page before. With `instance`, only that one is returned."""

    after: int = Field(0, ge=0, le=MAX_NODES * MAX_PAGE_ITEMS)
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)
    instance: str | None = Field(None, min_length=1, max_length=MAX_INSTANCE_CHARACTERS)


class NodesQuery(Query):
    """`after` is the number of instances, or rows, to skip: the cursor of the page before."""

    after: int = Field(0, ge=0, le=MAX_NODES * MAX_PAGE_ITEMS)
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)


class ApprovalsQuery(Query):
    """`workflow` asks for the questions of one workflow, `due_before` for those with a deadline up to an instant, in ISO 8601 or
    milliseconds since 1970, `assigned` for those whose `approvers` name the caller; `cursor` continues with those that come
    after."""

    workflow: str | None = None
    due_before: str | None = None
    assigned: bool = False
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_LISTED_APPROVALS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)


class DecisionsQuery(Query):
    """`cursor` continues with older decisions."""

    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_LISTED_DECISIONS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)


class ErrorsQuery(Query):
    """`workflow` asks for the failures of one workflow. `since` is an instant, in ISO 8601 or milliseconds since 1970: only runs
    created at or after it count. Without it, those of the last seven days."""

    workflow: str | None = None
    since: str | None = None


class StatsQuery(Query):
    """`window` is how far back the runs were created, like `24h` or `7d`: at most 90 days."""

    window: Annotated[str, StringConstraints(max_length=20)] = "24h"


class AllStatsQuery(Query):
    """`window` as for one workflow. `limit` is the number of workflows."""

    window: Annotated[str, StringConstraints(max_length=20)] = "24h"
    limit: int = Field(MAX_LISTED_STATS, ge=1, le=MAX_LISTED_STATS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)


class VersionsQuery(Query):
    """`before` is the number above those of the page: the `next_before` of the page before."""

    before: int | None = Field(None, ge=1, le=MAX_VERSION)
    limit: int = Field(20, ge=1, le=MAX_LISTED_VERSIONS)


VersionNumber = Annotated[int, Field(ge=1, le=MAX_VERSION)]


class VersionsDiffQuery(Query):
    """`from` is the number of the former version, `to` that of the later one."""

    from_: VersionNumber = Field(alias="from")
    to: VersionNumber
