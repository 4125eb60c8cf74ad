const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["assets/making_dialog-D5NOKywd.js","assets/rolldown-runtime-XKyaHtl9.js","assets/shared-Yyr_iepm.js","assets/shared-CqiZLYif.css","assets/beginning-DUr3RFXL.js","assets/index-CXFOjtOh.js","assets/index-Bcz8Ay-x.css","assets/making_dialog-l3WxSWIr.css"])))=>i.map(i=>d[i]);
import{n as e,r as t}from"./rolldown-runtime-XKyaHtl9.js";import{a as n,c as r,i,n as a,o,r as s,s as c,t as l}from"./spark-BcF39rHe.js";import{Gt as u,Hn as d,J as f,Jn as p,K as m,Kn as h,Kt as g,Lt as _,N as v,Rt as y,Un as b,Vn as x,Vt as S,Wn as C,Wt as w,Yn as T,Zt as E,cn as D,gn as O,n as k,q as A,r as j,t as M}from"./shared-Yyr_iepm.js";import{d as ee,f as te,h as ne,l as re,n as ie,p as ae,r as oe}from"./index-CXFOjtOh.js";import{r as N}from"./beginning-DUr3RFXL.js";import"./approval-Ctymkojm.js";var P=t(T(),1),F=g(),I=[{key:`approval`,name:`Approval`,about:`A person decides about large amounts; small ones pass at once.`,text:`# A person decides about large amounts; small ones pass at once.
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
`},{key:`webhook`,name:`Webhook`,about:`Receives a request, asks another service, and answers.`,text:`# Receives a request, asks another service, and answers with what it said.
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
`},{key:`nightly`,name:`Nightly check`,about:`Runs every night over a list, and collects what failed.`,text:`# Runs every night, looks at several services, and says how many of them did not answer.
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
`},{key:`agent`,name:`Agent with a person`,about:`A model drafts an answer, and a person sends it. Needs a model.`,text:`# A model drafts an answer, and a person sends it or drops it.
id: agent-answer
name: Answer by an agent and a person
nodes:
  question:
    type: manual
    inputs: {type: object, required: [text], properties: {text: {type: string, title: Question of the customer}}}

  draft:
    type: llm
    after: question
    with:
      system: Answer in at most five friendly sentences. Never invent facts.
      prompt: <question.text>
    retry: {attempts: 3, retry_on: [timeout, rate_limit, provider_error]}

  person:
    type: approval
    after: draft
    with:
      message: Send this answer?
      details:
        - {label: Question, value: <question.text>}
        - {value: <draft.text>, format: markdown}
      fields: {comment: {type: string, title: Comment}}
      timeout: 2d

  sent:
    type: transform
    after: person.approved
    with: {value: {answer: <draft.text>, by: <person.by>}}

  dropped:
    type: transform
    after: [person.rejected, person.timeout]
    with: {value: {answer: null}}
`}],L=re(async()=>(await oe(async()=>{let{default:e}=await import(`./making_dialog-D5NOKywd.js`);return{default:e}},__vite__mapDeps([0,1,2,3,4,5,6,7]))).default);function R({label:e=`New workflow`,first:t=`empty`,plain:n=!1}){let[r,i]=(0,P.useState)(!1);return k()?(0,F.jsxs)(F.Fragment,{children:[(0,F.jsx)(`button`,{className:n?`button`:`button first`,type:`button`,onClick:()=>{i(!0)},children:e}),r?(0,F.jsx)(L,{first:t,close:()=>{i(!1)}}):null]}):null}var z=6e4,B=20,V=2;async function H(e,t,n){let r=await D(`GET`,e,void 0,n);return{cursor:typeof r.cursor==`string`?r.cursor:null,items:r[t]}}async function U(e,t,n){let r=M().then(async e=>e?(await H(`/drafts?limit=1000`,`drafts`,n)).items:[]),i=[],a=null,o=0;do{let s=a===null?``:`&cursor=${encodeURIComponent(a)}`,[c,l]=await Promise.all([H(`/stats?window=${e}${s}`,`workflows`,n),r]);i.push(...c.items),a=c.cursor,o+=1,t({listed:[...i],drafts:l,whole:a===null||o===B,bounded:a!==null,at:O()})}while(a!==null&&o<B);return o}function W(e){let[t,n]=(0,P.useState)({span:e,found:null,error:null}),[r,i]=(0,P.useState)(0);(0,P.useEffect)(()=>{let t=new AbortController,r,i=!0,a=e=>{!t.signal.aborted&&e<=V&&(r=setTimeout(o,z))},o=()=>{if(document.hidden&&!i){a(1);return}let r=i;i=!1,U(e,i=>{!t.signal.aborted&&(r||i.whole)&&n({span:e,found:i,error:null})},t.signal).then(a,r=>{t.signal.aborted||n(t=>({span:e,found:t.found,error:r})),a(1)})};return o(),()=>{t.abort(),clearTimeout(r)}},[e,r]);let a=(0,P.useCallback)(()=>{i(e=>e+1)},[]);return{found:t.found,error:t.span===e?t.error:null,again:a}}var G=[`begin`,`test`,`publish`,`run`,`decide`],K=`stepless.steps`,q=`hidden`,se=3;function ce(e=localStorage){let t=(e.getItem(K)??``).split(` `);return t.includes(q)?null:new Set(G.filter(e=>t.includes(e)))}function J(e,t=localStorage){t.setItem(K,e===null?q:[...e].join(` `))}async function Y(e,t,n,r=()=>!0){try{let i=(await n(`GET`,e))[t];return Array.isArray(i)&&i.some(r)}catch(e){if(e instanceof E||e instanceof TypeError)return!1;throw e}}async function le(e,t,n=D){let r={begin:()=>e.listed.length+e.drafts.length>0,test:async()=>(await Promise.all(e.drafts.slice(0,se).map(({workflow:e})=>Y(`/drafts/${encodeURIComponent(e)}/runs?limit=1`,`runs`,n)))).includes(!0),publish:()=>e.listed.length>0,run:()=>Y(`/runs?limit=50`,`runs`,n,({version:e})=>e!==null),decide:()=>Y(`/approvals/decisions?limit=1`,`decisions`,n)},i=await Promise.all(G.map(async e=>t.has(e)||await r[e]()));return new Set(G.filter((e,t)=>i[t]))}var X={begin:`Begin a workflow`,test:`Test it`,publish:`Publish it`,run:`Start a run`,decide:`Answer an approval`};function ue(e,{listed:t,drafts:n}){let[r,i]=[n[0]?.workflow,t[0]?.workflow];return e===`decide`?`/approvals`:e===`run`?i===void 0?null:p(i,`start`):e===`begin`||r===void 0?null:x(r)}function de({found:e}){let[t,n]=(0,P.useState)(()=>ce()),r=!k()||t===null||t.size===G.length;return(0,P.useEffect)(()=>{if(r)return;let i=!1;return le(e,t).then(e=>{i||e.size===t.size||(J(e),n(e))}),()=>{i=!0}},[e,t,r]),r?null:(0,F.jsxs)(`section`,{className:`steps`,"aria-label":`First steps`,children:[(0,F.jsxs)(`div`,{className:`steps-head`,children:[(0,F.jsxs)(`h2`,{children:[`First steps, `,t.size,` of `,G.length]}),(0,F.jsx)(`button`,{className:`button small`,type:`button`,onClick:()=>{J(null),n(null)},children:`Hide`})]}),(0,F.jsx)(`ol`,{children:G.map(n=>{let r=t.has(n)?null:ue(n,e);return(0,F.jsxs)(`li`,{className:t.has(n)?`done`:``,children:[t.has(n)?(0,F.jsx)(w,{mark:`check`,size:14}):(0,F.jsx)(`i`,{}),r===null?X[n]:(0,F.jsx)(`a`,{href:C(r),onClick:d(r),children:X[n]}),t.has(n)?(0,F.jsx)(`span`,{className:`hidden`,children:` done`}):null]},n)})})]})}function fe(){let[e,t]=(0,P.useState)(``),[n,r]=(0,P.useState)(null),[i,a]=(0,P.useState)(!1),o=e=>{t(e.key),N(e.text).then(({id:e,why:t})=>{if(t===null)b(x(e));else throw Error(t)}).catch(e=>{r(e),t(``)})};return(0,F.jsxs)(`section`,{className:`welcome`,children:[(0,F.jsx)(`h2`,{children:`No workflows yet`}),(0,F.jsx)(`p`,{className:`quiet`,children:`A workflow is a graph of nodes that starts manually, by a webhook, by a schedule or by an event. Begin with one that works, and change it.`}),(0,F.jsx)(`ul`,{className:`welcome-cards`,children:I.map(t=>(0,F.jsx)(`li`,{children:(0,F.jsxs)(`button`,{type:`button`,disabled:e!==``,onClick:()=>{o(t)},children:[(0,F.jsx)(`b`,{children:t.name}),(0,F.jsx)(`span`,{className:`quiet`,children:e===t.key?`Opening…`:t.about})]})},t.key))}),n===null?null:(0,F.jsx)(ae,{error:n}),(0,F.jsxs)(`div`,{className:`welcome-ways`,children:[(0,F.jsx)(R,{}),(0,F.jsx)(R,{label:`Import from n8n or Sim`,first:`file`,plain:!0}),(0,F.jsx)(`button`,{className:`button`,type:`button`,onClick:()=>{a(!0)},children:`Write in Python`})]}),i?(0,F.jsxs)(S,{title:`Write in Python`,close:()=>{a(!1)},children:[(0,F.jsxs)(`div`,{className:`dialog-body`,children:[(0,F.jsxs)(`p`,{children:[`A workflow may be an `,(0,F.jsx)(`code`,{children:`async def`}),` in plain Python. `,(0,F.jsx)(`code`,{children:`stepless dev`}),` publishes it as often as you save the file, and it appears here.`]}),(0,F.jsx)(j,{of:[[`stepless init flows --python`,`a folder with a workflow, its steps and a test`],[`cd flows && stepless dev --open`,`publishes what you save`]]})]}),(0,F.jsx)(`div`,{className:`dialog-foot`,children:(0,F.jsx)(`button`,{className:`button first`,type:`button`,"data-first":!0,onClick:()=>{a(!1)},children:`Close`})})]}):null]})}var pe=e({default:()=>Z}),me=3;function he({span:e,order:t,words:n}){let r=new URLSearchParams({...e===`24h`?{}:{window:e},...t===`name`?{}:{sort:t},...n===``?{}:{search:n}}).toString();return r===``?`/workflows`:`/workflows?${r}`}function Z(){let{query:e}=h(),t={span:r(e.get(`window`)),order:n(e.get(`sort`)),words:e.get(`search`)??``},{found:i,error:a,again:o}=W(t.span);(0,P.useEffect)(()=>{document.title=`Workflows · Stepless`},[]);let s=i!==null&&i.listed.length===0&&i.drafts.length===0;return(0,F.jsxs)(`div`,{className:`page`,children:[(0,F.jsx)(ie,{at:`workflows`}),(0,F.jsxs)(`main`,{className:`fleet`,children:[(0,F.jsxs)(`div`,{className:`page-title`,children:[(0,F.jsx)(`h1`,{children:`Workflows`}),i===null||s?null:(0,F.jsx)(R,{})]}),i===null?a===null?(0,F.jsx)(ee,{lines:12,label:`The workflows are loading`}):(0,F.jsx)(te,{what:`Could not load the workflows.`,error:a,again:o}):(0,F.jsxs)(F.Fragment,{children:[a===null?null:(0,F.jsx)(ne,{error:a,at:i.at,again:o}),i.listed.length>me?null:(0,F.jsx)(de,{found:i}),s?(0,F.jsx)(ge,{}):(0,F.jsx)(_e,{found:i,view:t,change:e=>{b(he({...t,...e}),e.words!==void 0)},again:o})]})]})]})}function ge(){return k()?(0,F.jsx)(fe,{}):(0,F.jsxs)(`div`,{className:`empty-page`,children:[(0,F.jsx)(`h2`,{children:`No workflows yet`}),(0,F.jsx)(`p`,{children:`A workflow is a graph of nodes that starts manually, by a webhook, by a schedule or by an event. Publish the first one from a file.`}),(0,F.jsx)(j,{of:[[`stepless dev`,`publishes the files of its folder`],[`stepless publish refund.yaml`,`publishes one file to a server`]]})]})}function _e({found:e,view:t,change:a,again:o}){let{order:l,words:u}=t,d=k(),f=(0,P.useMemo)(()=>c(e.listed,u,l),[e.listed,u,l]),p=(0,P.useMemo)(()=>new Map(e.drafts.map(e=>[e.workflow,e])),[e.drafts]),h=(0,P.useMemo)(()=>new Set(e.listed.map(e=>e.workflow)),[e.listed]),g=e.whole?e.drafts.filter(e=>!h.has(e.workflow)&&e.workflow.includes(u.trim().toLowerCase())):[];return(0,F.jsxs)(F.Fragment,{children:[(0,F.jsxs)(`search`,{className:`fleet-bar`,children:[(0,F.jsx)(`input`,{className:`field`,type:`search`,"aria-label":`Search by name or id`,placeholder:`Search by name or id`,value:u,spellCheck:!1,onChange:e=>{a({words:e.target.value})}}),(0,F.jsx)(`select`,{className:`field`,"aria-label":`Runs of`,value:t.span,onChange:e=>{a({span:r(e.target.value)})},children:Object.entries(i).map(([e,t])=>(0,F.jsxs)(`option`,{value:e,children:[`Last `,t]},e))}),(0,F.jsx)(`select`,{className:`field`,"aria-label":`Sort by`,value:l,onChange:e=>{a({order:n(e.target.value)})},children:Object.entries(s).map(([e,t])=>(0,F.jsx)(`option`,{value:e,children:t},e))}),(0,F.jsx)(`span`,{className:`head-gap`}),(0,F.jsxs)(`span`,{className:`fleet-count`,children:[(0,F.jsx)(`span`,{className:`quiet`,role:`status`,children:e.whole?`${e.bounded?`At least `:``}${m(f.length+g.length,`workflow`)}`:`${e.listed.length.toLocaleString(`en`)} so far…`}),(0,F.jsx)(`button`,{className:`tool`,type:`button`,title:`Refresh; last updated at ${new Date(e.at).toLocaleTimeString()}`,"aria-label":`Refresh`,onClick:o,children:(0,F.jsx)(w,{mark:`refresh`})})]})]}),f.length+g.length===0?(0,F.jsxs)(`div`,{className:`empty-page`,children:[(0,F.jsx)(`h2`,{children:`No matching workflows`}),(0,F.jsxs)(`p`,{children:[`None has `,u.trim(),` in its name or id.`]}),(0,F.jsx)(`button`,{className:`button small`,type:`button`,onClick:()=>{a({words:``})},children:`Show all`})]}):(0,F.jsxs)(`table`,{className:`fleet-table`,children:[(0,F.jsx)(`thead`,{children:(0,F.jsxs)(`tr`,{children:[(0,F.jsx)(`th`,{scope:`col`,children:`Workflow`}),(0,F.jsx)(`th`,{scope:`col`,className:`fleet-starts`,children:`Starts`}),(0,F.jsx)(`th`,{scope:`col`,className:`number fleet-runs`,children:`Runs`}),(0,F.jsx)(`th`,{scope:`col`,className:`fleet-rate`,children:`Failed`}),(0,F.jsx)(`th`,{scope:`col`,className:`number fleet-p50`,children:`p50`}),(0,F.jsx)(`th`,{scope:`col`,className:`number fleet-p95`,children:`p95`}),(0,F.jsx)(`th`,{scope:`col`,className:`number fleet-cost`,children:`Cost`}),(0,F.jsx)(`th`,{scope:`col`,className:`fleet-next`,children:`Next`}),d?(0,F.jsx)(`th`,{scope:`col`,className:`fleet-draft`,children:`Draft`}):null]})}),(0,F.jsxs)(`tbody`,{children:[g.map(e=>(0,F.jsx)(Q,{draft:e},e.workflow)),f.map(e=>(0,F.jsx)(ve,{one:e,draft:p.get(e.workflow)??null,span:t.span},e.workflow))]})]})]})}function Q({draft:e}){let t=x(e.workflow);return(0,F.jsxs)(`tr`,{className:`fleet-still`,children:[(0,F.jsx)(`td`,{className:`fleet-name`,children:(0,F.jsxs)(`span`,{className:`fleet-line`,children:[(0,F.jsx)(`a`,{href:C(t),onClick:d(t),title:e.workflow,children:e.workflow}),(0,F.jsx)(`span`,{className:`quiet`,children:`not published`})]})}),(0,F.jsx)(`td`,{className:`fleet-starts`}),(0,F.jsx)(`td`,{className:`fleet-runs`}),(0,F.jsx)(`td`,{className:`fleet-rate`}),(0,F.jsx)(`td`,{className:`fleet-p50`}),(0,F.jsx)(`td`,{className:`fleet-p95`}),(0,F.jsx)(`td`,{className:`fleet-cost`}),(0,F.jsx)(`td`,{className:`fleet-next`}),(0,F.jsx)(`td`,{className:`fleet-draft`,children:(0,F.jsx)($,{draft:e})})]})}function ve({one:e,draft:t,span:n}){let r=p(e.workflow),i=`/?${new URLSearchParams({workflow:e.workflow,since:n}).toString()}`,a=`/errors?${new URLSearchParams({workflow:e.workflow,since:n}).toString()}`,s=e.at_least?`The newest ${e.runs} runs, since ${new Date(e.since).toLocaleString()}`:void 0;return(0,F.jsxs)(`tr`,{className:e.runs===0?`fleet-still`:``,children:[(0,F.jsx)(`td`,{className:`fleet-name`,children:(0,F.jsxs)(`span`,{className:`fleet-line`,children:[(0,F.jsx)(`a`,{href:C(r),onClick:d(r),title:`${e.name} · ${e.workflow}`,children:e.name}),y(e.name,e.workflow)?null:(0,F.jsx)(`span`,{className:`quiet fleet-id`,title:e.workflow,children:e.workflow}),(0,F.jsxs)(`span`,{className:`quiet`,children:[`v`,e.version,` · `,(0,F.jsx)(v,{at:e.published_at})]})]})}),(0,F.jsx)(`td`,{className:`fleet-starts`,children:(0,F.jsx)(`span`,{className:`fleet-marks`,children:e.starts.map(e=>(0,F.jsxs)(`span`,{title:e,children:[(0,F.jsx)(w,{mark:u(e),size:14}),(0,F.jsxs)(`span`,{className:`hidden`,children:[e,` `]})]},e))})}),(0,F.jsx)(`td`,{className:`number fleet-runs`,children:e.runs===0?(0,F.jsx)(`span`,{className:`quiet`,children:`no runs`}):(0,F.jsxs)(`a`,{href:C(i),onClick:d(i),title:s,children:[e.runs.toLocaleString(`en`),e.at_least?`+`:``,(0,F.jsx)(`span`,{className:`fleet-word`,children:e.runs===1?` run`:` runs`})]})}),(0,F.jsx)(`td`,{className:`fleet-rate`,children:e.runs===0?null:(0,F.jsxs)(`span`,{children:[e.failure_rate===null?(0,F.jsx)(`span`,{className:`quiet`,children:`—`}):e.failure_rate===0?(0,F.jsx)(`span`,{className:`quiet`,children:`0%`}):(0,F.jsx)(`a`,{className:`fleet-failed`,href:C(a),onClick:d(a),title:s,children:o(e.failure_rate)}),(0,F.jsx)(l,{of:e})]})}),(0,F.jsx)(`td`,{className:`number fleet-p50`,children:e.p50_ms===null?``:f(e.p50_ms)}),(0,F.jsx)(`td`,{className:`number fleet-p95`,children:e.p95_ms===null?``:(0,F.jsxs)(F.Fragment,{children:[(0,F.jsx)(`span`,{className:`fleet-word`,children:`p95 `}),f(e.p95_ms)]})}),(0,F.jsx)(`td`,{className:`number fleet-cost`,children:e.usd===null?``:A(e.usd)}),(0,F.jsx)(`td`,{className:`fleet-next`,children:e.next_at===null?e.paused_schedules>0?(0,F.jsx)(`span`,{className:`quiet`,children:`paused`}):``:(0,F.jsxs)(F.Fragment,{children:[(0,F.jsx)(`span`,{className:`fleet-word`,children:`next `}),(0,F.jsx)(v,{at:e.next_at})]})}),(0,F.jsx)(ye,{one:e,draft:t})]})}function ye({one:e,draft:t}){return k()?(0,F.jsx)(`td`,{className:`fleet-draft`,children:t===null?(0,F.jsx)(a,{workflow:e.workflow,version:e.version,draft:null,children:`Open a draft`}):(0,F.jsx)($,{draft:t})}):null}function $({draft:e}){let t=x(e.workflow);return(0,F.jsxs)(F.Fragment,{children:[(0,F.jsx)(`a`,{className:`button small`,href:C(t),onClick:d(t),children:`Edit`}),` `,(0,F.jsxs)(`span`,{className:`quiet`,children:[`by `,_(e.created_by)||`someone`,`, `,(0,F.jsx)(v,{at:e.created_at})]})]})}export{Z as default,I as n,pe as t};