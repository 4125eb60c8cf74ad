import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{$t as t,Gn as n,Jt as r,Un as i,Wt as a,Zn as o}from"./shared-f_NmpYwo.js";import{i as s,n as c,r as l,t as u}from"./beginning-CoBVZORk.js";import d from"./approval-BrUSKmiQ.js";var f=e(o(),1),p=`# Runs every night, looks at several services, and says how many of them did not answer.
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
`,m=`# Receives a request, asks another service, and answers with what it said.
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
`,h=r(),g=[[`empty`,`Empty`],[`example`,`Example`],[`paste`,`Paste`],[`file`,`File`]],_=[[`approval`,`Approval`,`A person decides about large amounts; small ones pass at once.`,d],[`webhook`,`Webhook`,`Receives a request, asks another service, and answers.`,m],[`nightly`,`Nightly check`,`Runs every night over a list, and collects what failed.`,p]];function v({close:e}){let[t,r]=(0,f.useState)(`empty`),[o,u]=(0,f.useState)(_[0][0]),[d,p]=(0,f.useState)(``),[m,v]=(0,f.useState)(null),[w,T]=(0,f.useState)(null),[E,D]=(0,f.useState)(null),[O,k]=(0,f.useState)(``),[A,j]=(0,f.useState)(!1),M=w??E?.id??``,N=(0,f.useRef)(0),P=e=>{let t=N.current+=1;k(``),D(null),e.trim()!==``&&l(e).then(e=>{t===N.current&&D(e)},e=>{t===N.current&&k(C(e))})},F=e=>{r(e),P(e===`example`?x(o):e===`paste`?d:e===`file`?m?.text??``:``)},I=e=>{e.preventDefault();let r=s(M);r===null?(j(!0),c(M,t===`empty`?null:E).then(e=>{e===null?n(i(M)):k(e)},e=>{k(C(e))}).finally(()=>{j(!1)})):k(r)},L=M!==``&&(t===`empty`||E!==null);return(0,h.jsx)(a,{title:`New workflow`,close:e,children:(0,h.jsxs)(`form`,{onSubmit:I,children:[(0,h.jsxs)(`div`,{className:`dialog-body making`,children:[(0,h.jsxs)(`fieldset`,{className:`making-ways`,children:[(0,h.jsx)(`legend`,{className:`hidden`,children:`Begin with`}),g.map(([e,n])=>(0,h.jsxs)(`label`,{children:[(0,h.jsx)(`input`,{type:`radio`,name:`way`,value:e,checked:t===e,onChange:()=>{F(e)}}),n]},e))]}),t===`empty`?(0,h.jsx)(`p`,{className:`quiet`,children:`A draft without nodes. You add them on the canvas.`}):null,t===`example`?(0,h.jsx)(y,{chosen:o,choose:e=>{u(e),P(x(e))}}):null,t===`paste`?(0,h.jsxs)(`div`,{children:[(0,h.jsx)(`label`,{className:`label`,htmlFor:`new-text`,children:`A workflow in YAML or JSON, a part of one, or an export of Sim or n8n`}),(0,h.jsx)(`textarea`,{id:`new-text`,className:`field`,rows:10,spellCheck:!1,value:d,"aria-describedby":`new-fault`,onChange:e=>{p(e.target.value),P(e.target.value)}})]}):null,t===`file`?(0,h.jsxs)(`label`,{className:`making-file button`,children:[(0,h.jsx)(`input`,{type:`file`,accept:`.yaml,.yml,.json`,onChange:e=>{S(e.target.files?.[0]??null).then(e=>{v(e),P(e?.text??``)})}}),m?.name??`Choose a file…`]}):null,(0,h.jsx)(b,{findings:E?.findings??[]}),(0,h.jsxs)(`div`,{children:[(0,h.jsx)(`label`,{className:`label`,htmlFor:`new-id`,children:`Id`}),(0,h.jsx)(`input`,{id:`new-id`,className:`field`,value:M,spellCheck:!1,autoComplete:`off`,maxLength:64,placeholder:`refund-approval`,"data-first":!0,"aria-describedby":`new-fault`,"aria-invalid":O!==``,onChange:e=>{T(e.target.value),k(``)}})]}),(0,h.jsx)(`p`,{id:`new-fault`,className:`fault`,role:`status`,children:O})]}),(0,h.jsxs)(`div`,{className:`dialog-foot`,children:[(0,h.jsx)(`button`,{className:`button`,type:`button`,onClick:e,children:`Cancel`}),(0,h.jsx)(`button`,{className:`button first`,type:`submit`,disabled:!L||A,children:`Open a draft`})]})]})})}function y({chosen:e,choose:t}){return(0,h.jsxs)(`fieldset`,{className:`making-examples`,children:[(0,h.jsx)(`legend`,{className:`hidden`,children:`Example`}),_.map(([n,r,i])=>(0,h.jsxs)(`label`,{children:[(0,h.jsx)(`input`,{type:`radio`,name:`example`,value:n,checked:e===n,onChange:()=>{t(n)}}),(0,h.jsxs)(`span`,{children:[(0,h.jsx)(`b`,{children:r}),(0,h.jsx)(`span`,{className:`quiet`,children:i})]})]},n))]})}function b({findings:e}){return e.length===0?null:(0,h.jsxs)(`details`,{className:`making-findings`,children:[(0,h.jsxs)(`summary`,{children:[e.length,` `,e.length===1?`difference`:`differences`,` from the export`]}),(0,h.jsx)(`ul`,{children:e.map((e,t)=>(0,h.jsx)(`li`,{children:e},t))})]})}function x(e){return _.find(([t])=>t===e)?.[3]??``}async function S(e){return e===null?null:{name:e.name,text:await e.text()}}function C(e){if(e instanceof u)return e.message;let{why:n,mend:r}=t(e);return`${n} ${r}`.trim()}export{v as default};