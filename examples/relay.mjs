// Posts a link to a finished run to a chat. Node 20 or newer:
//   CHAT_URL=https://chat.example.test/hook PORT=8080 node relay.mjs
// AT names your organization in the link, SECRET (whsec_…) turns signatures on: see docs/webhooks.md.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { CHAT_URL, PORT, AT, SECRET } = process.env;
const isId = (value) => typeof value === 'string' && /^[\w.:-]{1,256}$/.test(value);

/** Whether a delivery is signed as Standard Webhooks says, at most 5 minutes ago. */
function isSigned(body, headers) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) return false;
  const key = Buffer.from(SECRET.replace(/^whsec_/, ''), 'base64');
  const own = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  return signatures.split(' ').some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ''), 'base64');
    return entry.startsWith('v1,') && given.length === own.length && timingSafeEqual(own, given);
  });
}

/** IDs of the deliveries that were posted, the oldest first: a sender repeats what it thinks was lost. */
const posted = new Set();

async function relay(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    if ((size += part.length) > 10_000) return 413;
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  if (SECRET && !isSigned(body, request.headers)) return 401;
  const delivery = request.headers['webhook-id'];
  if (posted.has(delivery)) return 204;
  const { workflow_id: workflow, workflow_run_id: run } = JSON.parse(body.toString()).data;
  if (!isId(workflow) || !isId(run)) return 400;
  const query = new URLSearchParams({ v: '1', workflow, run, ...(AT && { at: AT }) });
  const text = `${workflow}, run ${run}, has ended: vscode://whitebox.whitebox-assessment/run?${query}`;
  const { ok } = await fetch(CHAT_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
    signal: AbortSignal.timeout(8000),
  }).catch(() => ({ ok: false }));
  if (!ok) return 502;
  if (delivery) posted.add(delivery);
  if (posted.size > 1000) posted.delete(posted.values().next().value);
  return 204;
}

createServer(async (request, response) => {
  const status = await relay(request).catch(() => 400);
  response.writeHead(status, { connection: 'close' }).end();
}).listen(Number(PORT));
