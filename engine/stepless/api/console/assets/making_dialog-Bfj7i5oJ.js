import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{Kt as t,Un as n,Vn as r,Vt as i,Yn as a,tn as o}from"./shared-DEeeOdPB.js";import{i as s,n as c,r as l,t as u}from"./beginning-PdKvt3WB.js";import"./approval-BrUSKmiQ.js";var d=e(a(),1),f=t(),p=[[`empty`,`Empty`],[`example`,`Example`],[`paste`,`Paste`],[`file`,`File`]],m=[[`approval`,`Approval`,`A person decides about large amounts; small ones pass at once.`,`# A person decides about large amounts; small ones pass at once.
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
`],[`webhook`,`Webhook`,`Receives a request, asks another service, and answers.`,`# Receives a request, asks another service, and answers with what it said.
id: webhook-answer
name: Answer to a webhook
nodes:
  received:
    type: webhook
    with:
      path: /lookups
      method: POST
      auth: none
      schema: {type: object, required: [name], properties: {name: {type: string}}}

  fetch:
    type: http
    after: received
    with:
      url: https://example.com/
      query: {name: <received.body.name>}
    retry: {attempts: 3, backoff_ms: 500}
    timeout_ms: 10000

  answer:
    type: respond
    after: fetch
    with:
      status: 200
      body: {found: true, status: <fetch.status>}

  failed:
    type: respond
    after: fetch.error
    with:
      status: 502
      body: {found: false, why: <fetch.error.message>}
`],[`nightly`,`Nightly check`,`Runs every night over a list, and collects what failed.`,`# Runs every night, looks at several services, and says how many of them did not answer.
id: nightly-check
name: Nightly check
nodes:
  night:
    type: schedule
    with: {cron: "0 3 * * *", timezone: Europe/Vienna}

  services:
    type: transform
    after: night
    with:
      value: ["https://example.com/", "https://example.org/"]

  each:
    type: loop
    after: services
    with:
      items: <services>
      body:
        nodes:
          ask:
            type: http
            with: {url: <each.item>}
            timeout_ms: 5000
          down:
            type: transform
            after: ask.error
            with: {value: {url: <each.item>, why: <ask.error.message>}}

  result:
    type: transform
    after: each
    with: {value: <each>}
`]];function h({close:e}){let[t,a]=(0,d.useState)(`empty`),[o,u]=(0,d.useState)(m[0][0]),[h,x]=(0,d.useState)(``),[S,C]=(0,d.useState)(null),[w,T]=(0,d.useState)(null),[E,D]=(0,d.useState)(null),[O,k]=(0,d.useState)(``),[A,j]=(0,d.useState)(!1),M=w??E?.id??``,N=(0,d.useRef)(0),P=e=>{let t=N.current+=1;k(``),D(null),e.trim()!==``&&l(e).then(e=>{t===N.current&&D(e)},e=>{t===N.current&&k(b(e))})},F=e=>{a(e),P(e===`example`?v(o):e===`paste`?h:e===`file`?S?.text??``:``)},I=e=>{e.preventDefault();let i=s(M);i===null?(j(!0),c(M,t===`empty`?null:E).then(e=>{e===null?n(r(M)):k(e)},e=>{k(b(e))}).finally(()=>{j(!1)})):k(i)},L=M!==``&&(t===`empty`||E!==null);return(0,f.jsx)(i,{title:`New workflow`,close:e,children:(0,f.jsxs)(`form`,{onSubmit:I,children:[(0,f.jsxs)(`div`,{className:`dialog-body making`,children:[(0,f.jsxs)(`fieldset`,{className:`making-ways`,children:[(0,f.jsx)(`legend`,{className:`hidden`,children:`Begin with`}),p.map(([e,n])=>(0,f.jsxs)(`label`,{children:[(0,f.jsx)(`input`,{type:`radio`,name:`way`,value:e,checked:t===e,onChange:()=>{F(e)}}),n]},e))]}),t===`empty`?(0,f.jsx)(`p`,{className:`quiet`,children:`A draft without nodes. You add them on the canvas.`}):null,t===`example`?(0,f.jsx)(g,{chosen:o,choose:e=>{u(e),P(v(e))}}):null,t===`paste`?(0,f.jsxs)(`div`,{children:[(0,f.jsx)(`label`,{className:`label`,htmlFor:`new-text`,children:`A workflow in YAML or JSON, a part of one, or an export of Sim or n8n`}),(0,f.jsx)(`textarea`,{id:`new-text`,className:`field`,rows:10,spellCheck:!1,value:h,"aria-describedby":`new-fault`,onChange:e=>{x(e.target.value),P(e.target.value)}})]}):null,t===`file`?(0,f.jsxs)(`label`,{className:`making-file button`,children:[(0,f.jsx)(`input`,{type:`file`,accept:`.yaml,.yml,.json`,onChange:e=>{y(e.target.files?.[0]??null).then(e=>{C(e),P(e?.text??``)})}}),S?.name??`Choose a file…`]}):null,(0,f.jsx)(_,{findings:E?.findings??[]}),(0,f.jsxs)(`div`,{children:[(0,f.jsx)(`label`,{className:`label`,htmlFor:`new-id`,children:`Id`}),(0,f.jsx)(`input`,{id:`new-id`,className:`field`,value:M,spellCheck:!1,autoComplete:`off`,maxLength:64,placeholder:`refund-approval`,"data-first":!0,"aria-describedby":`new-fault`,"aria-invalid":O!==``,onChange:e=>{T(e.target.value),k(``)}})]}),(0,f.jsx)(`p`,{id:`new-fault`,className:`fault`,role:`status`,children:O})]}),(0,f.jsxs)(`div`,{className:`dialog-foot`,children:[(0,f.jsx)(`button`,{className:`button`,type:`button`,onClick:e,children:`Cancel`}),(0,f.jsx)(`button`,{className:`button first`,type:`submit`,disabled:!L||A,children:`Open a draft`})]})]})})}function g({chosen:e,choose:t}){return(0,f.jsxs)(`fieldset`,{className:`making-examples`,children:[(0,f.jsx)(`legend`,{className:`hidden`,children:`Example`}),m.map(([n,r,i])=>(0,f.jsxs)(`label`,{children:[(0,f.jsx)(`input`,{type:`radio`,name:`example`,value:n,checked:e===n,onChange:()=>{t(n)}}),(0,f.jsxs)(`span`,{children:[(0,f.jsx)(`b`,{children:r}),(0,f.jsx)(`span`,{className:`quiet`,children:i})]})]},n))]})}function _({findings:e}){return e.length===0?null:(0,f.jsxs)(`details`,{className:`making-findings`,children:[(0,f.jsxs)(`summary`,{children:[e.length,` `,e.length===1?`difference`:`differences`,` from the export`]}),(0,f.jsx)(`ul`,{children:e.map((e,t)=>(0,f.jsx)(`li`,{children:e},t))})]})}function v(e){return m.find(([t])=>t===e)?.[3]??``}async function y(e){return e===null?null:{name:e.name,text:await e.text()}}function b(e){if(e instanceof u)return e.message;let{why:t,mend:n}=o(e);return`${t} ${n}`.trim()}export{h as default};