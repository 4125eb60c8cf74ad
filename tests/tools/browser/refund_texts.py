"""The texts that two people type to build the refund example: of the workflow, and of its nodes."""

from __future__ import annotations

ABOUT = "# Refunds an order: small amounts with a low risk at once, the others after a manager has approved."

WORKFLOW = """\
name: Refund approval
variables:
  status: pending
env:
  - REFUND_WEBHOOK_SECRET"""
ORDER_OF_A_SHOP = """\
path: /refunds
method: POST
auth:
  hmac: ${REFUND_WEBHOOK_SECRET}
schema:
  type: object
  required: [order_id, amount]
  properties:
    order_id: {type: string, minLength: 1}
    amount: {type: number}
    past_refunds: {type: integer, minimum: 0}"""
SCORE = """\
call: risk.score
args:
  amount: <order.body.amount>
  past_refunds: <order.body.past_refunds>"""
PATIENCE = """\
retry:
  attempts: 4
  backoff_ms: 500
  retry_on: [timeout, rate_limit, provider_error]
timeout_ms: 10000"""
TRIAGE = "cases:\n  auto: <scor.risk> < 0.2 and <order.body.amount> < 100\n  review: else"
EXITS = (("manager", "rejected", "deny"), ("manager", "timeout", "deny"), ("score", "error", "alert"))
QUESTION = "Refund <order.body.order_id> for <order.body.amount>? (risk <score.risk>)"
MANAGER = f'message: "{QUESTION}"\nfields:\n  comment: {{type: string}}\ntimeout: 2d'
PAY = """\
call: payments.refund
args:
  order_id: <order.body.order_id>
  amount: <order.body.amount>"""
DENY = "variables:\n  status: denied"
ALERT = "call: ops.alert\nargs:\n  error: <score.error>"
