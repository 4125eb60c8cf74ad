"""Checks the stored drafts: opens each, and yields what is damaged."""

from __future__ import annotations

from collections.abc import Iterator

from stepless.drafts.log.heads import base_of, each_head, origin_of
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.rules.document import to_document
from stepless.errors import Damaged, LogUnreadable
from stepless.model.stored.damage import FAULTS, Damage, damage_in, why_of
from stepless.runtime.diagnosis.findings import RULES, Diagnosis
from stepless.runtime.world import World


def damaged_drafts(world: World) -> Iterator[Diagnosis]:
    """Yields one finding for each draft that cannot be read. Nothing where the store keeps no drafts."""
    if world.drafts is None:
        return
    verbs, rule = DraftVerbs(world), RULES["draft"]
    for head in each_head(world.drafts):
        try:
            origin_of(head)
            base_of(head)
            if head.is_open:
                to_document(verbs.drafting.opened(head).state)
        except (Damaged, LogUnreadable) as error:
            yield rule.of(damage_in(error, f"draft of {head.workflow_id}"), head.workflow_id)
        except FAULTS as error:
            yield rule.of(Damage(f"draft of {head.workflow_id}", why_of(error)), head.workflow_id)
