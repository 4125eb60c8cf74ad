"""One small workflow for every kind of node, for docs/write/reference.md: the suite compiles each of them without a finding."""

from __future__ import annotations

from typing import Final

EXAMPLES: Final = {
    "manual": """
id: by-hand
nodes:
  begin: {type: manual}
  greet: {type: transform, after: begin, with: {value: "Hello, <begin.name>."}}
""",
    "webhook": """
id: orders
env: [ORDERS_SECRET]
nodes:
  order:
    type: webhook
    with:
      path: /orders
      auth: {hmac: "${ORDERS_SECRET}"}
      schema: {type: object, required: [id]}
  number: {type: transform, after: order, with: {value: <order.body.id>}}
""",
    "schedule": """
id: nightly
nodes:
  night: {type: schedule, with: {cron: "15 2 * * *", timezone: Europe/Berlin}}
  day: {type: transform, after: night, with: {value: <night.scheduled_at>}}
""",
    "event": """
id: uploads
nodes:
  upload: {type: event, with: {pattern: {source: [aws.s3], detail-type: [Object Created]}}}
  key: {type: transform, after: upload, with: {value: <upload.detail.object.key>}}
""",
    "function": """
id: refund
nodes:
  begin: {type: manual}
  pay:
    type: function
    after: begin
    with: {call: payments.refund, args: {amount: <begin.amount>}}
    retry: {attempts: 3}
""",
    "http": """
id: score
env: [RISK_KEY]
nodes:
  begin: {type: manual}
  score:
    type: http
    after: begin
    with:
      method: POST
      url: https://risk.example.com/score
      headers: {Authorization: "Bearer ${RISK_KEY}"}
      body: {amount: <begin.amount>}
      expect_status: [200, 202]
""",
    "lambda": """
id: render
nodes:
  begin: {type: manual}
  render: {type: lambda, after: begin, with: {function: render-pdf, payload: <begin>, mode: callback, timeout: 1h}}
  late: {type: transform, after: render.timeout, with: {value: too late}}
""",
    "aws": """
id: remember
nodes:
  begin: {type: manual}
  put:
    type: aws
    after: begin
    with:
      service: dynamodb
      action: put_item
      params: {TableName: orders, Item: {id: {S: "<begin.id>"}}}
""",
    "code": """
id: median
nodes:
  begin: {type: manual}
  median:
    type: code
    after: begin
    with:
      code: |
        import statistics
        def main(args):
            return statistics.median(args["numbers"])
      args: {numbers: <begin.numbers>}
""",
    "llm": """
id: summary
nodes:
  begin: {type: manual}
  read:
    type: llm
    after: begin
    with:
      system: You read invoices.
      prompt: <begin.text>
      response_schema: {type: object, properties: {total: {type: number}}, required: [total]}
""",
    "transform": """
id: total
nodes:
  begin: {type: manual}
  total: {type: transform, after: begin, with: {value: {sum: "{{ sum(<begin.amounts>) }}", currency: EUR}}}
""",
    "set": """
id: status
variables: {status: new}
nodes:
  begin: {type: manual}
  paid: {type: set, after: begin, with: {variables: {status: paid}}}
""",
    "condition": """
id: triage
nodes:
  begin: {type: manual}
  size:
    type: condition
    after: begin
    with:
      cases:
        small: <begin.amount> < 100
        large: else
  pay: {type: transform, after: size.small, with: {value: paid}}
  look: {type: transform, after: size.large, with: {value: a person has to check it}}
""",
    "router": """
id: mailroom
nodes:
  begin: {type: manual}
  sort:
    type: router
    after: begin
    with:
      prompt: <begin.text>
      routes: {complaint: The writer is unhappy., order: The writer wants to buy something.}
  sorry: {type: transform, after: sort.complaint, with: {value: We are sorry.}}
  thanks: {type: transform, after: sort.order, with: {value: Thank you.}}
""",
    "loop": """
id: lines
nodes:
  begin: {type: manual}
  each:
    type: loop
    after: begin
    with:
      items: <begin.lines>
      on_error: continue
      body:
        nodes:
          book: {type: function, with: {call: stock.book, args: {line: <loop.item>, number: <loop.index>}}}
""",
    "distributed": """
id: checks
nodes:
  begin: {type: manual}
  check:
    type: distributed
    after: begin
    with:
      items: <begin.orders>
      concurrency: 200
      tolerate: {percent: 1}
      body:
        nodes:
          one: {type: function, with: {call: orders.check, args: {order: <item>, number: <item.index>}}}
""",
    "parallel": """
id: thumbnails
nodes:
  begin: {type: manual}
  each:
    type: parallel
    after: begin
    with:
      items: <begin.images>
      window: 10
      body:
        nodes:
          shrink: {type: function, with: {call: images.shrink, args: {image: <parallel.item>}}}
""",
    "join": """
id: offers
nodes:
  begin: {type: manual}
  left: {type: function, after: begin, with: {call: offers.left}}
  right: {type: function, after: begin, with: {call: offers.right}}
  first:
    type: join
    after: [left, right]
    join: {mode: any, losers: cancel}
""",
    "wait": """
id: reminder
nodes:
  begin: {type: manual}
  pause: {type: wait, after: begin, with: {for: 3d}}
  remind: {type: function, after: pause, with: {call: mail.remind}}
""",
    "approval": """
id: expense
nodes:
  begin: {type: manual}
  boss:
    type: approval
    after: begin
    with:
      message: "Pay <begin.amount>?"
      details:
        - {label: Amount, value: <begin.amount>, currency: EUR}
        - {label: Receipt, value: <begin.receipt>, link: "https://files.example.com/<begin.receipt>"}
      asked_by: <begin.name>
      fields: {comment: {type: string, maxLength: 200}}
      approvers: [ada@example.com]
      notify: mailto:ada@example.com
      reminders: [1d]
      timeout: 2d
  pay: {type: transform, after: boss.approved, with: {value: "paid, <boss.comment>"}}
  deny: {type: transform, after: [boss.rejected, boss.timeout], with: {value: denied}}
""",
    "receive": """
id: order
key: <input.id>
messages:
  payment: {data: {type: object, required: [amount]}}
nodes:
  order: {type: manual}
  paid: {type: receive, after: order, with: {message: payment, where: <message.amount> >= <order.amount>, timeout: 3d}}
  ship: {type: transform, after: paid, with: {value: <paid.amount>}}
  remind: {type: transform, after: paid.timeout, with: {value: unpaid}}
""",
    "send": """
id: checkout
nodes:
  begin: {type: manual}
  tell:
    type: send
    after: begin
    with: {workflow: order, key: <begin.order_id>, message: payment, data: {amount: <begin.amount>}}
""",
    "callback": """
id: scan
nodes:
  begin: {type: manual}
  scanned:
    type: callback
    after: begin
    with: {message: the virus scan, fields: {clean: {type: boolean}}, notify: "https://scanner.example.com/jobs", timeout: 10m}
  result: {type: transform, after: scanned, with: {value: <scanned.clean>}}
  late: {type: transform, after: scanned.timeout, with: {value: unknown}}
""",
    "workflow": """
id: parent
nodes:
  begin: {type: manual}
  child: {type: workflow, after: begin, with: {workflow: refund, inputs: {amount: <begin.amount>}}}
""",
    "respond": """
id: quote
nodes:
  ask: {type: webhook, with: {path: /quotes, auth: none, response: wait}}
  answer: {type: respond, after: ask, with: {status: 200, body: {price: "{{ <ask.body.pieces> * 3 }}"}}}
""",
    "end": """
id: search
nodes:
  begin: {type: manual}
  each:
    type: loop
    after: begin
    with:
      items: <begin.shelves>
      body:
        nodes:
          look: {type: function, with: {call: shelves.look, args: {shelf: <loop.item>}}}
          found: {type: condition, after: look, with: {cases: {yes: <look.found>, no: else}}}
          enough: {type: end, after: found.yes, with: {break: true}}
""",
    "fail": """
id: charge
nodes:
  begin: {type: manual}
  known: {type: condition, after: begin, with: {cases: {no: <begin.card> == null, yes: else}}}
  refuse: {type: fail, after: known.no, with: {code: no_card, message: "Order <begin.id> has no card"}}
  pay: {type: function, after: known.yes, with: {call: payments.charge, args: {card: <begin.card>}}}
  release: {type: function, after: pay.error, with: {call: stock.release, args: {order: <begin.id>}}}
  again: {type: fail, after: release, with: {error: <pay.error>}}
""",
}
