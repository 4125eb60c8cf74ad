import{n as e}from"./rolldown-runtime-XKyaHtl9.js";var t=e({default:()=>`# A person decides about large amounts; small ones pass at once.
id: approval
name: Approval of an amount
nodes:
  request:
    type: manual

  size:
    type: condition
    after: request
    with:
      cases:
        small: <request.amount> < 100
        large: else

  manager:
    type: approval
    after: size.large
    with:
      message: "Approve <request.amount> for <request.who>?"
      fields: {comment: {type: string}}
      timeout: 2d

  approved:
    type: transform
    after: [size.small, manager.approved]
    with: {value: {amount: <request.amount>, approved: true}}

  denied:
    type: transform
    after: [manager.rejected, manager.timeout]
    with: {value: {amount: <request.amount>, approved: false}}
`}),n=`# A person decides about large amounts; small ones pass at once.
id: approval
name: Approval of an amount
nodes:
  request:
    type: manual

  size:
    type: condition
    after: request
    with:
      cases:
        small: <request.amount> < 100
        large: else

  manager:
    type: approval
    after: size.large
    with:
      message: "Approve <request.amount> for <request.who>?"
      fields: {comment: {type: string}}
      timeout: 2d

  approved:
    type: transform
    after: [size.small, manager.approved]
    with: {value: {amount: <request.amount>, approved: true}}

  denied:
    type: transform
    after: [manager.rejected, manager.timeout]
    with: {value: {amount: <request.amount>, approved: false}}
`;export{t as n,n as t};