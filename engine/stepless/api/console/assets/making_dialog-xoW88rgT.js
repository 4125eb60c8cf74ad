const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["assets/yaml-CmHHshVv.js","assets/rolldown-runtime-XKyaHtl9.js","assets/exact-CBXWTZFI.js","assets/index-BnFq7XII.js","assets/react-DlmbjZJV.js","assets/values-DH258vcJ.js","assets/jsx-runtime-LKYXHABd.js","assets/index-Co1IeijY.css"])))=>i.map(i=>d[i]);
import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{t}from"./react-DlmbjZJV.js";import{N as n,S as r,_ as i,g as a,j as o,t as s,y as c}from"./index-BnFq7XII.js";import{t as l}from"./dialog-BH0lZPtb.js";import{f as u,p as d,t as f}from"./exact-CBXWTZFI.js";import{n as p,t as m}from"./imports-CipyB8-h.js";import h from"./approval-BrUSKmiQ.js";import{t as g}from"./jsx-runtime-LKYXHABd.js";var _=e(t(),1),v=/^[a-z0-9][a-z0-9-]{0,63}$/,y=64;function b(e){return v.test(e)?null:`An id has lower-case letters, digits and hyphens, begins with a letter or digit, and has at most 64 characters.`}function x(e){return e.normalize(`NFKD`).replace(/\p{Mark}/gu,``).toLowerCase().replace(/[^a-z0-9]+/g,`-`).replace(/^-+|-+$/g,``).slice(0,y).replace(/-+$/,``)}var S=class extends Error{};async function C(e){let t=await s(()=>import(`./yaml-CmHHshVv.js`).then(e=>e.i),__vite__mapDeps([0,1,2,3,4,5,6,7])),n;try{n=t.read(e)}catch(e){throw e instanceof t.Unreadable?new S(`${e.line===null?``:`Line ${e.line}: `}${e.message}`):e}if(p(n)!==null){let e=await m(n);return w(e.document,null,e.findings)}return w(n,e,[])}function w(e,t,n){if(!u(e)||!u(e.get(`nodes`)))throw new S(u(e)&&d(e.get(`nodes`))?"`nodes` is a list. In a workflow it has one entry for each node, by its name.":"There are no `nodes`: expected a workflow in YAML or JSON, or an export of Sim or n8n.");let[r,i]=[e.get(`id`),e.get(`name`)];return{id:typeof r==`string`&&b(r)===null?r:x(typeof i==`string`?i:typeof r==`string`?r:``),document:e,text:t,findings:n}}function T(e,t){return new Map([[`id`,t],...[...e].filter(([e])=>e!==`id`)])}async function E(e,t){if(await D(o(e)))return`There is a draft of ${e} already. Choose another id, or open it from the list.`;if(await D(`/workflows/${encodeURIComponent(e)}`))return`A workflow ${e} is published already. Choose another id, or open a draft of it from the list.`;let n=t?.text??null;return await r(`POST`,o(e),t===null?`{"from":"empty"}`:`{"from":"document","document":${f(T(t.document,e))}${n===null?``:`,"text":${JSON.stringify(n)}`}}`),null}async function D(e){try{return await c(`GET`,e),!0}catch(e){if(e instanceof a&&e.status===404)return!1;throw e}}var O=`# Runs every night, looks at several services, and says how many of them did not answer.
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
`,k=`# Receives a request, asks another service, and answers with what it said.
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
`,A=g(),j=[[`empty`,`Empty`],[`example`,`Example`],[`paste`,`Paste`],[`file`,`File`]],M=[[`approval`,`Approval`,`A person decides about large amounts; small ones pass at once.`,h],[`webhook`,`Webhook`,`Receives a request, asks another service, and answers.`,k],[`nightly`,`Nightly check`,`Runs every night over a list, and collects what failed.`,O]];function N({close:e}){let[t,r]=(0,_.useState)(`empty`),[i,a]=(0,_.useState)(M[0][0]),[s,c]=(0,_.useState)(``),[u,d]=(0,_.useState)(null),[f,p]=(0,_.useState)(null),[m,h]=(0,_.useState)(null),[g,v]=(0,_.useState)(``),[y,x]=(0,_.useState)(!1),S=f??m?.id??``,w=(0,_.useRef)(0),T=e=>{let t=w.current+=1;v(``),h(null),e.trim()!==``&&C(e).then(e=>{t===w.current&&h(e)},e=>{t===w.current&&v(R(e))})},D=e=>{r(e),T(e===`example`?I(i):e===`paste`?s:e===`file`?u?.text??``:``)},O=e=>{e.preventDefault();let r=b(S);r===null?(x(!0),E(S,t===`empty`?null:m).then(e=>{e===null?n(o(S)):v(e)},e=>{v(R(e))}).finally(()=>{x(!1)})):v(r)},k=S!==``&&(t===`empty`||m!==null);return(0,A.jsx)(l,{title:`New workflow`,close:e,children:(0,A.jsxs)(`form`,{onSubmit:O,children:[(0,A.jsxs)(`div`,{className:`dialog-body making`,children:[(0,A.jsxs)(`fieldset`,{className:`making-ways`,children:[(0,A.jsx)(`legend`,{className:`hidden`,children:`Begin with`}),j.map(([e,n])=>(0,A.jsxs)(`label`,{children:[(0,A.jsx)(`input`,{type:`radio`,name:`way`,value:e,checked:t===e,onChange:()=>{D(e)}}),n]},e))]}),t===`empty`?(0,A.jsx)(`p`,{className:`quiet`,children:`A draft without nodes. You add them on the canvas.`}):null,t===`example`?(0,A.jsx)(P,{chosen:i,choose:e=>{a(e),T(I(e))}}):null,t===`paste`?(0,A.jsxs)(`div`,{children:[(0,A.jsx)(`label`,{className:`label`,htmlFor:`new-text`,children:`A workflow in YAML or JSON, a part of one, or an export of Sim or n8n`}),(0,A.jsx)(`textarea`,{id:`new-text`,className:`field`,rows:10,spellCheck:!1,value:s,"aria-describedby":`new-fault`,onChange:e=>{c(e.target.value),T(e.target.value)}})]}):null,t===`file`?(0,A.jsxs)(`label`,{className:`making-file button`,children:[(0,A.jsx)(`input`,{type:`file`,accept:`.yaml,.yml,.json`,onChange:e=>{L(e.target.files?.[0]??null).then(e=>{d(e),T(e?.text??``)})}}),u?.name??`Choose a file…`]}):null,(0,A.jsx)(F,{findings:m?.findings??[]}),(0,A.jsxs)(`div`,{children:[(0,A.jsx)(`label`,{className:`label`,htmlFor:`new-id`,children:`Id`}),(0,A.jsx)(`input`,{id:`new-id`,className:`field`,value:S,spellCheck:!1,autoComplete:`off`,maxLength:64,placeholder:`refund-approval`,"data-first":!0,"aria-describedby":`new-fault`,"aria-invalid":g!==``,onChange:e=>{p(e.target.value),v(``)}})]}),(0,A.jsx)(`p`,{id:`new-fault`,className:`fault`,role:`status`,children:g})]}),(0,A.jsxs)(`div`,{className:`dialog-foot`,children:[(0,A.jsx)(`button`,{className:`button`,type:`button`,onClick:e,children:`Close`}),(0,A.jsx)(`button`,{className:`button first`,type:`submit`,disabled:!k||y,children:`Open a draft`})]})]})})}function P({chosen:e,choose:t}){return(0,A.jsxs)(`fieldset`,{className:`making-examples`,children:[(0,A.jsx)(`legend`,{className:`hidden`,children:`Example`}),M.map(([n,r,i])=>(0,A.jsxs)(`label`,{children:[(0,A.jsx)(`input`,{type:`radio`,name:`example`,value:n,checked:e===n,onChange:()=>{t(n)}}),(0,A.jsxs)(`span`,{children:[(0,A.jsx)(`b`,{children:r}),(0,A.jsx)(`span`,{className:`quiet`,children:i})]})]},n))]})}function F({findings:e}){return e.length===0?null:(0,A.jsxs)(`details`,{className:`making-findings`,children:[(0,A.jsxs)(`summary`,{children:[e.length,` `,e.length===1?`thing is`:`things are`,` not as in the export`]}),(0,A.jsx)(`ul`,{children:e.map((e,t)=>(0,A.jsx)(`li`,{children:e},t))})]})}function I(e){return M.find(([t])=>t===e)?.[3]??``}async function L(e){return e===null?null:{name:e.name,text:await e.text()}}function R(e){if(e instanceof S)return e.message;let{why:t,mend:n}=i(e);return`${t} ${n}`.trim()}export{N as default};